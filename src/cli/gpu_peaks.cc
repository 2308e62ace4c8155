// tbd gpu-peaks: the roofs of a GPU. `tbd run` starts it as a process of its own before and after its workloads.
#include "measure/gpu/gpu_peaks.h"

#include <ostream>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/locations.h"
#include "measure/gpu/visible_device.h"

namespace tbd::cli {
namespace {

std::optional<double> median_of(const PeakResult& result) {
  return result.all ? std::optional(result.all->median) : std::nullopt;
}

Table peaks_table(const Peaks& peaks) {
  Table table{.title = cat("Peaks of ", peaks.gpu->name, ", compute capability ", peaks.gpu->capability)};
  table.columns = {{"kernel", "kernel"},
                   {"type", "math type"},
                   {"unit", "unit"},
                   {"flop_rate", "FLOP/s", Unit::flop_rate},
                   {"bandwidth", "B/s", Unit::bytes},
                   {"reason", "reason"}};
  for (const PeakResult& result : peaks.kernels) {
    const bool memory = result.unit == "memory";
    table.rows.push_back({result.kernel, result.type, result.unit, memory ? TableCell() : cell(median_of(result)),
                          memory ? cell(median_of(result)) : TableCell(), result.reason});
  }
  return table;
}

class GpuPeaks final : public Command {
 public:
  std::string name() const override { return "gpu-peaks"; }
  std::string summary() const override { return "Measure the peaks of a GPU by kernels compiled for it"; }
  bool hidden() const override { return true; }

  void declare(Options& options) override {
    options.option("--device", target_.device, "A GPU by CUDA's number, such as cuda:0", {.show_default = true});
    options.option("--nvrtc", target_.nvrtc, "File of CUDA's run-time compiler [what the system's loader finds]");
    options.option("--samples", samples_, "Samples of each kernel", {.show_default = true});
    options.option("--sample-ms", sample_ms_, "Milliseconds of a sample", {.show_default = true});
    options.option("--kernels", peaks_.kernels, "Kernels to measure, comma-separated [all]", {.separator = ','});
    options.option("--array-bytes", peaks_.array_bytes,
                   "Bytes of each array [four times the L2 cache, at least 256 MiB]");
    output_.declare(options);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    note_interrupts();
    target_.environment = in_driver_order(context.environment);
    peaks_.samples = samples_;
    peaks_.sample_seconds = 1e-3 * static_cast<double>(sample_ms_);
    peaks_.cancelled = interrupted;
    const std::optional<Peaks> peaks = measure_gpu_peaks(target_, peaks_);
    if (!peaks) return kCellFailed;
    if (format == Format::json)
      context.out << to_json(*peaks).dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
    else
      print_tables(context, {peaks_table(*peaks)}, format);
    return kDone;
  }

 private:
  GpuTarget target_;
  PeakOptions peaks_ = quick_peak_options();
  int64_t samples_ = peaks_.samples, sample_ms_ = 50;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_gpu_peaks() { return std::make_unique<GpuPeaks>(); }

}  // namespace tbd::cli
