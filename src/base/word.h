// A name of one kind, such as a precision: the compiler takes no other kind's in its place. A kind names its values as
// constants; a record of a later version may hold others.
#pragma once
#include <compare>
#include <concepts>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbd {

// `struct Kind : Word<Kind> { using Word::Word; };`
template <class Kind>
class Word {
 public:
  Word() = default;
  explicit Word(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  friend bool operator==(const Word&, const Word&) = default;
  friend auto operator<=>(const Word&, const Word&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Word& word) { return out << word.text_; }
  // In JSON its text; the codec reads it.
  template <class Json>
  friend void to_json(Json& json, const Word& word) {
    json = word.text_;
  }

 private:
  std::string text_;
};

template <class T>
concept AnyWord = std::derived_from<T, Word<T>>;

template <AnyWord Kind>
std::vector<std::string> texts(const std::vector<Kind>& words) {
  std::vector<std::string> out;
  for (const Kind& word : words) out.push_back(word.text());
  return out;
}

template <AnyWord Kind>
std::vector<Kind> words_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

// Throws Error(usage) with the nearest names where `name` is not among `known`: "unknown pass 'trac', did you mean
// ...".
void require_known_name(std::string_view what, std::string_view name, const std::vector<std::string>& known);
// Of a kind with a name, kWhat, and all its values, kKnown. Throws as require_known_name.
template <AnyWord Kind>
void require_known(const Kind& word) {
  require_known_name(Kind::kWhat, word.text(), texts(Kind::kKnown));
}

}  // namespace tbd
