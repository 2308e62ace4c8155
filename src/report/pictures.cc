#include "report/pictures.h"

#include "base/error.h"
#include "record/pictures.h"
#include "report/base64.h"
#include "report/explained.h"

namespace tbd {
namespace {

std::string figure(const Picture& picture) {
  const std::span bytes(reinterpret_cast<const uint8_t*>(picture.png.data()), picture.png.size());
  const std::string title = html_escaped(picture.title);
  return cat("<figure>\n<h4>", title, "</h4>\n<img alt=\"", title, "\" src=\"data:image/png;base64,", base64(bytes),
             "\">\n<figcaption>", html_escaped(picture.caption), "</figcaption>\n</figure>\n");
}

std::string heading(const ReportCell& cell) { return cat("<h3>Pictures: ", html_escaped(cell.label), "</h3>\n"); }

// The first `most` as figures; all as rows.
std::string picture_grid(const ReportCell& cell, const std::vector<Picture>& pictures, size_t most, Table& table) {
  std::string html;
  for (size_t i = 0; i < pictures.size(); ++i) {
    if (i < most) html += figure(pictures[i]);
    table.rows.push_back({cell.label, pictures[i].title, pictures[i].caption, cat("pictures/", pictures[i].file)});
  }
  return html.empty() ? "" : cat(heading(cell), "<div class=\"pictures\">\n", html, "</div>\n");
}

}  // namespace

void add_pictures(Page& page, const std::string& model, std::span<const ReportCell> cells) {
  Table table{
      .title = cat(page.title, ": pictures"),
      .columns = {
          {"cell", "workload"}, {"picture", "picture"}, {"caption", "caption"}, {"file", "file in the record"}}};
  size_t shown = 0;
  for (const ReportCell& cell : cells) {
    if (cell.record->run.workload.model != model) continue;
    try {
      const std::vector<Picture> pictures = read_pictures(cell.record->folder);
      page.below += picture_grid(cell, pictures, kMostFigures - shown, table);
      shown += std::min(pictures.size(), kMostFigures - shown);
    } catch (const Error& e) {
      page.below += cat(heading(cell), "<p class=\"note\">They cannot be read: ", html_escaped(e.what()), ".</p>\n");
    }
  }
  if (table.rows.empty()) return;
  if (shown < table.rows.size()) page.below += folded_table(table, table.title);
  page.tables.push_back(std::move(table));
}

}  // namespace tbd
