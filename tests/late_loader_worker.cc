// A worker whose loader is late: every batch of a data source comes kLateLoaderNs after it was asked for. The linker
// puts late_source in the place of open_source (--wrap).
#include <chrono>
#include <thread>

#include "data/source.h"
#include "injected_faults.h"
#include "worker/worker_main.h"

namespace tbd {

std::unique_ptr<Source> real_source(const SourceSpec& spec) asm("__real__ZN3tbd11open_sourceERKNS_10SourceSpecE");
std::unique_ptr<Source> late_source(const SourceSpec& spec) asm("__wrap__ZN3tbd11open_sourceERKNS_10SourceSpecE");

namespace {

class LateSource final : public Source {
 public:
  explicit LateSource(std::unique_ptr<Source> source) : source_(std::move(source)) {}
  TensorMap next(int64_t step) override {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kLateLoaderNs));
    return source_->next(step);
  }
  void recycle(TensorMap batch) override { source_->recycle(std::move(batch)); }
  TensorMap batch_at(int64_t step) const override { return source_->batch_at(step); }
  std::optional<int64_t> size() const override { return source_->size(); }
  std::optional<int64_t> steps_per_epoch() const override { return source_->steps_per_epoch(); }
  std::optional<std::string> data_hash() const override { return source_->data_hash(); }
  SourceStatistics statistics() const override { return source_->statistics(); }

 private:
  std::unique_ptr<Source> source_;
};

}  // namespace

std::unique_ptr<Source> late_source(const SourceSpec& spec) { return std::make_unique<LateSource>(real_source(spec)); }

}  // namespace tbd

int main() { return tbd::worker_main(tbd::make_session); }
