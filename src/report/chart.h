// A chart as data: what the page's script draws, and what its table and CSV hold.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/table.h"
#include "base/json_fwd.h"

namespace tbd {

struct ChartSeries {
  std::string name;
  std::string role;       // picks the colour: "resident", "pipeline", or "" for the next one; "roof", "gap", "outline"
  std::vector<double> x;  // empty where `labels` are the categories
  std::vector<std::string> labels;
  std::vector<std::optional<double>> y;
  std::vector<std::optional<double>> low, high;  // empty, or ends of intervals, as long as y
  std::vector<std::string> text;                 // empty, or one a point
  std::vector<std::string> groups;               // of columns: what `labels` are grouped by, as long as labels
  std::optional<size_t> color;                   // overrides the role's; series of one thing share it
  bool dashed = false;
  bool square = false;  // the mark of a point, so that colour is not all that tells series apart
};

struct Band {  // a shaded range of x
  double begin = 0, end = 0;
  std::string label;
};

// stacks: bars whose series add up; areas: lines that do; curves: points joined by lines over a scale that doubles;
// columns: upright stacks in groups; groups: bars side by side in each category.
enum class Mark { bars, points, lines, stacks, areas, curves, columns, groups };

enum class Logarithmic { none, y, both };  // axes

struct Chart {
  std::string id;  // letters, digits and '-': element id and file name
  std::string title, x_title, y_title;
  std::string caption;  // one sentence: what to see, and what it is measured on
  std::string metric;   // its id in the table of Methods, which the caption links to; may be empty
  Mark mark = Mark::lines;
  bool from_zero = false;
  Logarithmic logarithmic = Logarithmic::none;
  std::vector<ChartSeries> series;
  std::vector<std::string> order;  // of the categories, first on top
  std::vector<Band> bands;
  std::optional<double> level;  // a horizontal line
  std::string level_name;
  Table table;  // what the chart shows, for reading
  Table data;   // every point, for the CSV; without columns: as the table
};

Json to_json(const Chart& chart);           // for the page's script
std::string to_figure(const Chart& chart);  // the element it draws into, caption, table and download button

}  // namespace tbd
