#include "report/paper_figures.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/table.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr int kWidth = 360, kBox = 34, kGap = 18;
constexpr size_t kStages = 12;

// Boxes and arrows on a canvas that is kWidth wide.
class Drawing {
 public:
  void box(int x, int y, int width, const std::string& text, const std::string& below = {}) {
    body_ += cat("<rect x=\"", x, "\" y=\"", y, "\" width=\"", width, "\" height=\"", kBox,
                 "\" rx=\"4\" fill=\"none\" stroke=\"currentColor\"/>");
    write(x + width / 2, y + (below.empty() ? 21 : 14), text, 12);
    if (!below.empty()) write(x + width / 2, y + 28, below, 11);
    height_ = std::max(height_, y + kBox);
  }
  void arrow(int x, int from, int to) {
    const int back = to > from ? -6 : 6;
    body_ += cat("<path d=\"M", x, " ", from, "V", to, "M", x - 4, " ", to + back, "L", x, " ", to, "L", x + 4, " ",
                 to + back, "\" fill=\"none\" stroke=\"currentColor\"/>");
  }
  std::string svg(const std::string& title) const {
    return cat("<svg viewBox=\"0 0 ", kWidth, " ", height_ + 2, "\" width=\"", kWidth,
               "\" style=\"max-width:100%;height:auto;display:block\" role=\"img\" aria-label=\"", html_escaped(title),
               "\">", body_, "</svg>\n");
  }

 private:
  void write(int x, int y, const std::string& text, int size) {
    body_ += cat("<text x=\"", x, "\" y=\"", y, "\" text-anchor=\"middle\" font-size=\"", size,
                 "\" fill=\"currentColor\">", html_escaped(text), "</text>");
  }
  std::string body_;
  int height_ = 0;
};

struct Stage {
  std::string name;
  int64_t forward = 0, backward = 0;  // FLOPs
};

std::vector<Stage> stages_of(const RunInfo& run) {
  std::vector<Stage> stages;
  for (const OpRow& row : run.ops) {
    const std::string name = row.node.substr(0, row.node.find('.'));
    auto stage = std::ranges::find(stages, name, &Stage::name);
    if (stage == stages.end()) stage = stages.insert(stages.end(), Stage{.name = name});
    stage->forward += row.forward.flop_model;
    stage->backward += row.backward.flop_model;
  }
  const size_t each = (stages.size() + kStages - 1) / kStages;
  std::vector<Stage> shown;
  for (size_t i = 0; i < stages.size(); ++i) {
    if (i % each == 0) {
      shown.push_back(stages[i]);
      const size_t last = std::min(i + each, stages.size()) - 1;
      if (last > i) shown.back().name += cat(" – ", stages[last].name);
      continue;
    }
    shown.back().forward += stages[i].forward;
    shown.back().backward += stages[i].backward;
  }
  return shown;
}

std::string short_label(const std::string& text) { return text.size() <= 24 ? text : text.substr(0, 21) + "..."; }

}  // namespace

std::string pipeline_figure(std::span<const Record* const> records) {
  std::map<std::string, size_t> passes, frameworks;
  for (const Record* record : records) {
    ++frameworks[record->run.workload.framework];
    for (const Launch& launch : record->launches) ++passes[launch.info.pass.text()];
  }
  std::vector<std::string> names;
  for (const auto& [framework, count] : frameworks) names.push_back(framework);
  Drawing drawing;
  const std::vector<std::string> before = {"network as a neutral graph", cat("worker: ", join(names, ", "))};
  int y = 1;
  for (const std::string& text : before) {
    drawing.box(1, y, kWidth - 2, text);
    drawing.arrow(kWidth / 2, y + kBox, y + kBox + kGap);
    y += kBox + kGap;
  }
  const int count = std::max<int>(1, static_cast<int>(passes.size())), width = (kWidth - 2 - 8 * (count - 1)) / count;
  int x = 1;
  for (const auto& [pass, launches] : passes) {
    drawing.box(x, y, width, cat("pass ", pass), cat(launches, launches == 1 ? " launch" : " launches"));
    x += width + 8;
  }
  if (!passes.empty()) {
    drawing.arrow(kWidth / 2, y + kBox, y + kBox + kGap);
    y += kBox + kGap;
  }
  drawing.box(1, y, kWidth - 2, cat(records.size(), records.size() == 1 ? " record" : " records"));
  drawing.arrow(kWidth / 2, y + kBox, y + kBox + kGap);
  drawing.box(1, y + kBox + kGap, kWidth - 2, "tables and this report");
  return drawing.svg("From network to report");
}

std::string training_flow_figure(const RunInfo& run) {
  const std::vector<Stage> stages = stages_of(run);
  int64_t all = 0;
  for (const Stage& stage : stages) all += stage.forward + stage.backward;
  if (all == 0) return "";
  const auto share = [&](int64_t flops) {
    return flops == 0 ? std::string("no product")
                      : format_percent(static_cast<double>(flops) / static_cast<double>(all));
  };
  constexpr int kColumn = (kWidth - 22) / 2, kRight = kWidth - 1 - kColumn;
  Drawing drawing;
  int y = 1;
  for (size_t i = 0; i < stages.size(); ++i, y += kBox + kGap) {
    drawing.box(1, y, kColumn, short_label(stages[i].name), share(stages[i].forward));
    drawing.box(kRight, y, kColumn, cat(short_label(stages[i].name), "'"), share(stages[i].backward));
    drawing.arrow(1 + kColumn / 2, y + kBox, y + kBox + kGap);
    drawing.arrow(kRight + kColumn / 2, y + kBox + kGap, y + kBox);
  }
  drawing.box(1, y, kWidth - 2, "loss: forward on the left, gradients on the right");
  return drawing.svg(cat("Training step of ", run.workload.model));
}

}  // namespace tbd
