#include "report/trace_report.h"

#include "base/files.h"
#include "base/text.h"
#include "base/units.h"
#include "report/assets.h"

namespace tbd {
namespace {

struct Part {
  std::string name;
  int64_t ns = 0;
  size_t colour = 0;
};

// What the device did in the window, each instant once: compute before communication before copies, then the causes.
std::vector<Part> parts_of(const RankAnalysis& rank) {
  const uint8_t comm = bit(DeviceClass::comm), copy = bit(DeviceClass::copy);
  const int64_t compute = rank.masks.busy(kComputeBits);
  const int64_t exposed = rank.masks.busy(kComputeBits | comm) - compute;
  std::vector<Part> parts = {{"compute", compute, 0},
                             {"communication alone", exposed, 3},
                             {"copies alone", rank.masks.busy(kComputeBits | comm | copy) - compute - exposed, 2}};
  for (size_t i = 0; i < kIdleCauses; ++i)
    parts.push_back({cat("idle: ", name(static_cast<IdleCause>(i))), rank.causes[i], 1 + i % 5});
  std::erase_if(parts, [](const Part& part) { return part.ns == 0; });
  return parts;
}

std::string bar_of(const RankAnalysis& rank) {
  const int64_t window = rank.window.length();
  std::string bar, legend;
  for (const Part& part : parts_of(rank)) {
    const std::string share = significant(percent(part.ns, window)), label = cat(part.name, " ", share, " %");
    bar += cat("<span title=\"", label, "\" style=\"flex:", part.ns, " 0 0;background:var(--c", part.colour,
               ")\"></span>");
    legend += cat("<li><b style=\"background:var(--c", part.colour, ")\"></b>", label, "</li>");
  }
  return cat("<h3>Rank ", rank.rank, ": ", format_seconds(static_cast<double>(window) / 1e9),
             "</h3>\n<div class=\"timebar\">", bar, "</div>\n<ul class=\"timekey\">", legend, "</ul>\n");
}

std::string trace_lead(std::span<const RankAnalysis> ranks) {
  if (ranks.empty()) return "";
  const RankAnalysis& first = ranks.front();
  return cat("The device of rank ", first.rank, " was busy for ",
             format_percent(percent(first.masks.busy(), first.window.length()) / 100), " of ",
             format_seconds(static_cast<double>(first.window.length()) / 1e9),
             ranks.size() > 1 ? cat("; ", ranks.size(), " ranks in all.") : std::string("."));
}

}  // namespace

std::string trace_report_html(std::span<const Table> tables, std::span<const RankAnalysis> ranks) {
  std::string html =
      cat("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "img-src data:\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>Where time went</title>\n<style>",
          "\n", report_style(), trace_style(),
          "</style>\n</head>\n<body>\n<header>\n<h1>Where time went</h1>\n<p class=\"lead\">",
          html_escaped(trace_lead(ranks)), "</p>\n</header>\n<main>\n<section>\n<h2>The window</h2>\n");
  for (const RankAnalysis& rank : ranks) html += bar_of(rank);
  html += "</section>\n";
  for (Table table : tables) {
    html += cat("<section>\n<h2>", html_escaped(table.title), "</h2>\n");
    table.title.clear();
    html += to_html(table) + "</section>\n";
  }
  return html +
         "</main>\n<footer>All times are sums of whole nanoseconds as the trace has them.</footer>\n</body>\n</html>\n";
}

void write_trace_report(std::span<const Table> tables, std::span<const RankAnalysis> ranks,
                        const std::filesystem::path& out) {
  write_file_atomic(out, trace_report_html(tables, ranks));
}

}  // namespace tbd
