#include "data/prefetch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/error.h"

namespace tbd {
namespace {

using Clock = std::chrono::steady_clock;

double thread_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A batch in preparation. Slots are handed out in order; `left` falls as they are done.
struct Batch {
  int64_t step, size;
  TensorMap tensors;
  int64_t next_slot = 0;
  int64_t left = size;
  std::exception_ptr error;  // the first slot's that failed
  int64_t error_slot = 0;
};

class PrefetchingSource final : public Source {
 public:
  PrefetchingSource(const SourceSpec& spec, std::unique_ptr<Samples> samples)
      : spec_(spec), samples_(std::move(samples)), next_step_(spec.first_step), first_of_queue_(spec.first_step) {
    for (int64_t i = 0; i < spec.threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~PrefetchingSource() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  TensorMap next(int64_t step) override {
    require(step >= 1, "steps count from 1, got ", step);
    const auto began = Clock::now();
    if (threads_.empty()) {
      TensorMap batch = batch_at(step);
      note_wait(step, false, began);
      return batch;
    }
    std::unique_lock lock(mutex_);
    if (step != first_of_queue_) restart(step);
    const bool ready = !queue_.empty() && queue_.front()->left == 0;
    done_.wait(lock, [this] { return !queue_.empty() && queue_.front()->left == 0; });
    const std::shared_ptr<Batch> batch = queue_.front();
    queue_.pop_front();
    ++first_of_queue_;
    lock.unlock();
    work_.notify_all();
    note_wait(step, ready, began);
    if (batch->error) std::rethrow_exception(batch->error);
    samples_->add_counts(batch->tensors);
    return std::move(batch->tensors);
  }

  void recycle(TensorMap batch) override {
    const std::lock_guard lock(mutex_);
    if (static_cast<int64_t>(spare_.size()) >= spec_.prefetch) spare_.erase(spare_.begin());
    spare_.push_back(std::move(batch));
  }

  TensorMap batch_at(int64_t step) const override {
    require(step >= 1, "steps count from 1, got ", step);
    const std::unique_ptr<SampleMaker> maker = samples_->maker();
    const BatchLayout layout = samples_->layout(step);
    Batch batch{.step = step, .size = layout.samples, .tensors = new_batch(layout)};
    for (int64_t slot = 0; slot < batch.size; ++slot) make(*maker, batch, slot);
    samples_->add_counts(batch.tensors);
    return std::move(batch.tensors);
  }

  std::optional<int64_t> size() const override { return samples_->size(); }
  std::optional<int64_t> steps_per_epoch() const override { return samples_->steps_per_epoch(); }
  std::optional<std::string> data_hash() const override { return samples_->data_hash(); }
  SourceStatistics statistics() const override {
    const std::lock_guard lock(statistics_mutex_);
    SourceStatistics all = statistics_;
    all.bad_files = samples_->bad_files();
    all.notes = samples_->notes();
    return all;
  }

 private:
  void work() {
    std::unique_ptr<SampleMaker> maker = samples_->maker();
    std::unique_lock lock(mutex_);
    for (;;) {
      std::shared_ptr<Batch> batch;
      work_.wait(lock, [&] { return stop_ || (batch = claimable()) != nullptr; });
      if (stop_) return;
      const int64_t slot = batch->next_slot++;
      lock.unlock();
      std::exception_ptr error;
      try {
        make(*maker, *batch, slot);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error && (!batch->error || slot < batch->error_slot)) {
        batch->error = error;
        batch->error_slot = slot;
      }
      if (--batch->left == 0) done_.notify_all();
    }
  }

  // The oldest batch with a slot to hand out, begun now if the queue has room; else nullptr. Needs the lock.
  std::shared_ptr<Batch> claimable() {
    if (!queue_.empty() && queue_.back()->next_slot < queue_.back()->size) return queue_.back();
    if (static_cast<int64_t>(queue_.size()) >= spec_.prefetch) return nullptr;
    const BatchLayout layout = samples_->layout(next_step_);
    queue_.push_back(
        std::make_shared<Batch>(Batch{.step = next_step_, .size = layout.samples, .tensors = spare_tensors(layout)}));
    ++next_step_;
    return queue_.back();
  }

  // Threads that still work on a dropped batch keep it alive.
  void restart(int64_t step) {
    queue_.clear();
    next_step_ = first_of_queue_ = step;
    work_.notify_all();
  }

  // Of batches of several shapes, one that fits may lie deeper.
  TensorMap spare_tensors(const BatchLayout& layout) {
    const auto fits = [&](const TensorMap& tensors) { return has_layout(tensors, layout); };
    const auto found = std::find_if(spare_.begin(), spare_.end(), fits);
    if (found == spare_.end()) return new_batch(layout);
    TensorMap tensors = std::move(*found);
    spare_.erase(found);
    return tensors;
  }

  void make(SampleMaker& maker, Batch& batch, int64_t slot) const {
    const double before = thread_cpu_seconds();
    maker.make(batch.step, slot, Row(batch.tensors, slot));
    const std::lock_guard lock(statistics_mutex_);
    ++statistics_.images;
    statistics_.cpu_seconds += thread_cpu_seconds() - before;
  }

  void note_wait(int64_t step, bool ready, Clock::time_point began) {
    const std::lock_guard lock(statistics_mutex_);
    statistics_.waited_seconds += std::chrono::duration<double>(Clock::now() - began).count();
    statistics_.waits += !ready;
    if (ready && !statistics_.first_ready_step) statistics_.first_ready_step = step;
  }

  const SourceSpec spec_;
  const std::unique_ptr<Samples> samples_;

  std::mutex mutex_;  // guards what follows, up to threads_
  std::condition_variable work_, done_;
  std::deque<std::shared_ptr<Batch>> queue_;  // by step; all but the last are handed out completely
  std::vector<TensorMap> spare_;
  int64_t next_step_;       // the step of the next batch to begin
  int64_t first_of_queue_;  // the step that next expects
  bool stop_ = false;

  mutable std::mutex statistics_mutex_;
  mutable SourceStatistics statistics_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Source> prefetching_source(const SourceSpec& spec, std::unique_ptr<Samples> samples) {
  return std::make_unique<PrefetchingSource>(spec, std::move(samples));
}

}  // namespace tbd
