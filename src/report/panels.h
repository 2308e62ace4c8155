// What may stand in one chart against batch size: sweeps of one model that differ in how they were run, never in what
// is computed or on which machine.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "report/cells.h"
#include "report/chart.h"

namespace tbd {

struct PanelSeries {
  const Sweep* sweep = nullptr;
  std::string name;  // the axes in which the panel's sweeps differ: "pytorch pipeline"; unique in the panel
  size_t color = 0;  // of its framework and mode, the same all over the report
  bool square = false;
};

// One machine, device, network, math type and unit.
struct Panel {
  std::string id;     // "resnet50-1": part of its charts' ids
  std::string where;  // "FP32", "FP32, tiny, machine B": goes into titles
  std::string unit;   // of throughput
  std::vector<PanelSeries> series;
  bool swept() const;  // some series has at least two batches
};

struct ModelGroup {
  std::string id, title;  // anchor and heading
  std::string model;
  std::vector<Panel> panels;
};
// By model, in the order of the sweeps.
std::vector<ModelGroup> model_groups(const Content& content);

// The panel's charts; those without a number come back empty and `html` of the section says why.
std::optional<Chart> throughput_chart(const Panel& panel);
std::optional<Chart> compute_utilization_chart(const Panel& panel);
std::optional<Chart> flop_utilization_chart(const Panel& panel);
std::optional<Chart> memory_chart(const Panel& panel);
std::optional<Chart> training_chart(const Panel& panel);

}  // namespace tbd
