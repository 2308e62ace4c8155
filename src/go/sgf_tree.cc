#include "go/sgf_tree.h"

#include "base/error.h"

namespace tbd::go {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_capital(c) || (c >= 'a' && c <= 'z'); }

std::string quoted(char c) {
  if (c > ' ' && c < 127) return {'\'', c, '\''};
  return cat("byte ", static_cast<int>(static_cast<unsigned char>(c)));
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<SgfLine> read() {
    skip_to_first_tree();
    while (next()) {
      expect(text_[at_] == '(', "expected a game tree, found ", quoted(text_[at_]));
      lines_.emplace_back();
      moves_ = 0;
      read_tree();
    }
    require(!lines_.empty(), "there is no game tree: '(;' was not found");
    return std::move(lines_);
  }

 private:
  struct Open {
    bool main = true;       // this tree's nodes are of the main line
    bool has_node = false;  // before its variations
    bool has_variation = false;
  };

  template <class... Parts>
  void expect(bool condition, const Parts&... parts) const {
    if (!condition)
      fail(ErrorKind::invalid, moves_ == 0 ? std::string("before move 1") : cat("after move ", moves_), ": ",
           cat(parts...), ", at byte ", at_ + 1);
  }
  // Skips white space; false at the end.
  bool next() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size();
  }
  // Mail and byte-order marks may come before a collection.
  void skip_to_first_tree() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] != '(') continue;
      const size_t start = at_++;
      const bool tree = next() && text_[at_] == ';';
      at_ = start;
      if (tree) return;
    }
  }

  // Without recursion: a deep nesting is no reason to run out of stack.
  void read_tree() {
    std::vector<Open> open;
    do {
      expect(next(), "the file ends inside a game tree: ", open.size(), " ')' missing");
      const char c = text_[at_++];
      if (c == '(') {
        expect(open.empty() || open.back().has_node, "a variation before any node");
        const bool main = open.empty() || (open.back().main && !open.back().has_variation);
        if (!open.empty()) open.back().has_variation = true;
        open.push_back({.main = main});
      } else if (c == ')') {
        expect(open.back().has_node, "a game tree without a node");
        open.pop_back();
      } else {
        --at_;
        expect(c == ';', "expected a node, a variation or ')', found ", quoted(c));
        expect(!open.back().has_variation, "a node behind a variation");
        ++at_;
        open.back().has_node = true;
        read_node(open.back().main);
      }
    } while (!open.empty());
  }

  void read_node(bool main) {
    SgfNode node;
    while (next() && is_letter(text_[at_])) node.push_back(read_property());
    if (!main) return;
    for (const SgfProperty& property : node) moves_ += property.name == "B" || property.name == "W";
    lines_.back().push_back(std::move(node));
  }

  SgfProperty read_property() {
    SgfProperty property;
    for (; at_ < text_.size() && is_letter(text_[at_]); ++at_)
      if (is_capital(text_[at_])) property.name += text_[at_];
    expect(!property.name.empty(), "a property's name without a capital letter");
    expect(next() && text_[at_] == '[', "property ", property.name, " has no value");
    while (next() && text_[at_] == '[') property.values.push_back(read_value(property.name));
    return property;
  }

  std::string read_value(const std::string& name) {
    std::string value;
    const size_t start = at_++;
    for (; at_ < text_.size() && text_[at_] != ']'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[++at_] == '\n') continue;  // a line folded
      value += text_[at_];
    }
    const bool closed = at_ < text_.size();
    if (!closed) at_ = start;
    expect(closed, "a value of ", name, " is not ended by ']'");
    ++at_;
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<SgfLine> lines_;
  int moves_ = 0;  // of the main line so far
};

}  // namespace

std::vector<SgfLine> read_sgf_lines(std::string_view text) { return Reader(text).read(); }

}  // namespace tbd::go
