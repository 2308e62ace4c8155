// Text helpers: joining, splitting, nearest names, numbers for people.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tbd {

// One part of a text, to be written as `<<` writes it. Refers to its value, which must outlive it. What is no number
// and no string needs <ostream> only where its own `<<` does.
class TextPart {
 public:
  TextPart(std::string_view text) : kind_(Kind::text), value_{.text = text} {}
  TextPart(const std::string& text) : TextPart(std::string_view(text)) {}
  TextPart(const char* text) : TextPart(std::string_view(text)) {}
  TextPart(char* text) : TextPart(std::string_view(text)) {}
  TextPart(char letter) : kind_(Kind::letter), value_{.letter = letter} {}
  TextPart(signed char letter) : TextPart(static_cast<char>(letter)) {}
  TextPart(unsigned char letter) : TextPart(static_cast<char>(letter)) {}
  TextPart(double number) : kind_(Kind::floating), value_{.floating = number} {}
  TextPart(float number) : TextPart(static_cast<double>(number)) {}
  template <class T>
  TextPart(const T& value) {
    if constexpr (!std::is_integral_v<T>) {
      kind_ = Kind::other;
      value_.other = {&value, write<T>};
    } else if constexpr (std::is_signed_v<T>) {
      kind_ = Kind::integer;
      value_.integer = value;
    } else {
      kind_ = Kind::natural;
      value_.natural = value;
    }
  }
  void append_to(std::string& out) const;

 private:
  enum class Kind { text, letter, integer, natural, floating, other };
  struct Other {
    const void* value;
    void (*write)(std::ostream&, const void*);
  };
  template <class T>
  static void write(std::ostream& out, const void* value) {
    out << *static_cast<const T*>(value);
  }

  union Value {
    std::string_view text;
    char letter;
    int64_t integer;
    uint64_t natural;
    double floating;
    Other other;
  };

  Kind kind_;
  Value value_ = {.integer = 0};
};

// The parts one after the other.
std::string joined(std::initializer_list<TextPart> parts);
template <class... Parts>
std::string cat(const Parts&... parts) {
  return joined({TextPart(parts)...});
}

std::string join(std::span<const std::string> parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);  // keeps empty fields; "" -> {""}
std::string_view trim(std::string_view text);                           // ASCII white space at both ends
std::string lower_case(std::string_view text);                          // of ASCII letters
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Names of `known` within a third of the longer name's length by edit distance (Levenshtein 1966), or that `name`
// is a prefix of, nearest first, at most `limit`.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> known, size_t limit = 3);
// "unknown model 'resnet5', did you mean 'resnet50'?": the sentence for a name that is not among `known`.
std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> known);

std::optional<int64_t> parse_int(std::string_view text);    // the whole text, base 10; nullopt otherwise
std::optional<double> parse_double(std::string_view text);  // the whole text, finite; nullopt otherwise

std::string grouped(int64_t count);                     // 25557032 -> "25,557,032"
std::string significant(double value, int digits = 3);  // 3 significant digits without exponent between 1e-4 and 1e15
std::string format_bytes(int64_t bytes);                // binary: "97.5 MiB"
std::string format_seconds(double seconds);             // "4.56 ms", "1.23 s", "2 min 05 s", "3 h 10 min"
std::string format_rate(double per_second);             // SI prefix: "12.3 G", "950"
std::string format_percent(double fraction);            // 0.123 -> "12.3 %"

}  // namespace tbd
