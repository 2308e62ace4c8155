#include "data/sets/html_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

using Names = std::initializer_list<std::string_view>;
bool is_among(std::string_view name, Names names) { return std::ranges::find(names, name) != names.end(); }

bool is_prose(std::string_view tag) { return is_among(tag, {"p", "li", "dd", "blockquote"}); }
bool is_skipped(std::string_view tag) { return is_among(tag, {"script", "style", "pre", "head", "nav"}); }
bool is_inline(std::string_view tag) {
  return is_among(tag, {"a",     "abbr", "acronym", "b",   "bdi", "big", "cite", "code", "del", "dfn",
                        "em",    "font", "i",       "img", "ins", "kbd", "mark", "q",    "s",   "samp",
                        "small", "span", "strong",  "sub", "sup", "tt",  "u",    "var",  "wbr"});
}

struct Reference {
  std::string_view name, text;
};
constexpr auto kReferences = std::to_array<Reference>({{"amp", "&"},
                                                       {"lt", "<"},
                                                       {"gt", ">"},
                                                       {"quot", "\""},
                                                       {"apos", "'"},
                                                       {"nbsp", " "},
                                                       {"mdash", "—"},
                                                       {"ndash", "–"},
                                                       {"hellip", "…"},
                                                       {"lsquo", "‘"},
                                                       {"rsquo", "’"},
                                                       {"ldquo", "“"},
                                                       {"rdquo", "”"},
                                                       {"laquo", "«"},
                                                       {"raquo", "»"},
                                                       {"copy", "©"},
                                                       {"reg", "®"},
                                                       {"middot", "·"},
                                                       {"times", "×"}});

// What &name; stands for; empty where it is unknown.
std::string referred(std::string_view name) {
  std::string text;
  if (name.starts_with("#")) {
    const bool hex = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
    int64_t code = 0;
    for (const char c : name.substr(hex ? 2 : 1)) {
      const size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
      const int64_t value = static_cast<int64_t>(digit >= 16 ? digit - 6 : digit);
      if (digit == std::string_view::npos || value >= (hex ? 16 : 10) || code > 0x10ffff) return "";
      code = code * (hex ? 16 : 10) + value;
    }
    if (code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)) append_utf8(text, static_cast<int32_t>(code));
    return text;
  }
  const auto* known = std::ranges::find(kReferences, name, &Reference::name);
  return known == kReferences.end() ? "" : std::string(known->text);
}

struct Tag {
  std::string name;  // lower-case
  bool closes = false;
  std::string_view inside;  // all between < and >
};

Tag tag_of(std::string_view inside) {
  Tag tag{.closes = inside.starts_with('/'), .inside = inside};
  for (const char c : inside.substr(tag.closes ? 1 : 0)) {
    const bool upper = c >= 'A' && c <= 'Z', letter = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!letter) break;
    tag.name += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return tag;
}

std::string attribute(std::string_view tag, std::string_view name) {
  const std::string wanted = cat(" ", name, "=\"");
  const size_t at = tag.find(wanted);
  if (at == std::string_view::npos) return "";
  const size_t begin = at + wanted.size();
  return std::string(tag.substr(begin, std::min(tag.find('"', begin), tag.size()) - begin));
}

class HtmlReader {
 public:
  explicit HtmlReader(std::string_view html) : html_(html) {}

  HtmlText read() {
    while (at_ < html_.size()) {
      const size_t tag = std::min(html_.find('<', at_), html_.size());
      add_text(html_.substr(at_, tag - at_));
      at_ = tag;
      if (at_ < html_.size()) step_over_tag();
    }
    end_paragraph();
    return std::move(out_);
  }

 private:
  size_t past(std::string_view end, size_t from) const {
    const size_t found = html_.find(end, from);
    return found == std::string_view::npos ? html_.size() : found + end.size();
  }
  void step_over_tag() {
    if (html_.substr(at_).starts_with("<!--")) {
      at_ = past("-->", at_);
      return;
    }
    const size_t end = past(">", at_);
    const Tag tag = tag_of(html_.substr(at_ + 1, end - at_ - 2));
    at_ = end;
    if (tag.name == "html" && !tag.closes) out_.language = attribute(tag.inside, "lang");
    if (is_skipped(tag.name) && !tag.closes && !tag.inside.ends_with('/')) at_ = past("</" + tag.name, at_);
    if (tag.name.empty() || is_inline(tag.name)) return;
    if (tag.name == "br") {
      text_ += ' ';
      return;
    }
    end_paragraph();
    prose_ = is_prose(tag.name) && !tag.closes;
  }
  void add_text(std::string_view text) {
    if (!prose_) return;
    for (size_t i = 0; i < text.size();) {
      const size_t end = text[i] == '&' ? text.substr(i, 12).find(';') : std::string_view::npos;
      const std::string reference = end == std::string_view::npos ? "" : referred(text.substr(i + 1, end - 1));
      if (reference.empty())
        text_ += text[i++];
      else {
        text_ += reference;
        i += end + 1;
      }
    }
  }
  void end_paragraph() {
    std::string paragraph;
    bool gap = false;
    for (size_t i = 0; i < text_.size();) {
      const auto code = code_point_at(text_, i);
      const size_t length = code ? code->length : 1;
      if (!code || is_unicode_space(code->value) || is_unicode_control(code->value))
        gap = true;
      else {
        paragraph.append(gap && !paragraph.empty() ? " " : "").append(text_, i, length);
        gap = false;
      }
      i += length;
    }
    if (!paragraph.empty()) out_.paragraphs.push_back(std::move(paragraph));
    text_.clear();
  }

  std::string_view html_;
  size_t at_ = 0;
  bool prose_ = false;
  std::string text_;
  HtmlText out_;
};

}  // namespace

HtmlText text_of_html(std::string_view html) { return HtmlReader(html).read(); }

}  // namespace tbd
