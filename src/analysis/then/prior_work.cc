#include "analysis/then/prior_work.h"

#include <string_view>

namespace tbd {
namespace {

struct Work {
  std::string_view name, year, what, training, breadth, source;
};

constexpr Work kWorks[] = {
    {"Fathom", "2016", "eight networks in TensorFlow; where their time goes", "training and inference",
     "eight networks, one framework", "Adolf et al., IISWC 2016, arXiv:1608.06581, abstract"},
    {"Shi et al.", "2016", "running time of software tools", "training",
     "Caffe, CNTK, MXNet, TensorFlow, Torch; three types of networks; CPUs, GPUs, several GPUs",
     "arXiv:1608.07249, abstract"},
    {"DeepBench", "2016", "basic operations alone, on hardware", "both", "operations of many networks, no framework",
     "repository baidu-research/DeepBench, README"},
    {"DAWNBench", "2017", "time and cost to a stated accuracy; inference at that accuracy", "both",
     "image classification, question answering", "Coleman et al. 2017, abstract and project page"},
    {"TBD", "2018", "throughput, utilization, memory of training", "training",
     "eight networks, six domains, TensorFlow, MXNet, CNTK; one GPU to several machines",
     "Zhu et al., IISWC 2018, arXiv:1803.06905, abstract"},
    {"MLPerf Training", "2020", "time to a stated quality, by vendors' submissions", "training",
     "several domains, any framework", "Mattson et al., MLSys 2020, abstract"},
};

}  // namespace

Table prior_work_table() {
  Table table{.title = "Table 1: prior and later work"};
  table.columns = {{"name", "benchmark"}, {"year", "year"},       {"what", "what it measures"},
                   {"training", "of"},    {"breadth", "breadth"}, {"source", "source"}};
  for (const Work& work : kWorks)
    table.rows.push_back({std::string(work.name), std::string(work.year), std::string(work.what),
                          std::string(work.training), std::string(work.breadth), std::string(work.source)});
  table.notes = {"What the named sources say; the paper's own table compares other points."};
  return table;
}

}  // namespace tbd
