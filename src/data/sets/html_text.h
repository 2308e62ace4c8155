// The running text of an HTML page.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

struct HtmlText {
  std::string language;                 // of the page's <html lang="...">; empty where it does not say
  std::vector<std::string> paragraphs;  // white space is one space, references such as &amp; are characters
};
// The text of p, li, dd and blockquote elements, each up to the next element of its level; headings, tables, contents,
// <pre>, scripts and comments are left out. `html` is UTF-8.
HtmlText text_of_html(std::string_view html);

}  // namespace tbd
