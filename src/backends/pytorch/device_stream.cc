#include "backends/pytorch/device_stream.h"

#include <c10/core/StreamGuard.h>

#include <cmath>

namespace tbd::pytorch {
namespace {

using Guard = c10::impl::VirtualGuardImpl;

}  // namespace

CopyStream::CopyStream(const at::Device& device)
    : device_(device), copies_(Guard(device.type()).getStreamFromGlobalPool(device)) {}

at::Tensor CopyStream::copy(const at::Tensor& pinned) const {
  const Guard device(device_.type());
  const c10::Stream compute = device.getStream(device_);
  at::Tensor out;
  {
    const c10::StreamGuard on_copies(copies_);
    out = pinned.to(device_, /*non_blocking=*/true);
  }
  c10::Event copied(device_.type());
  copied.record(copies_);
  copied.block(compute);
  device.recordDataPtrOnStream(out.storage().data_ptr(), compute);  // its memory is not reused before compute is done
  return out;
}

StepClock::StepClock(const at::Device& device)
    : device_(device),
      begin_(device.type(), c10::EventFlag::BACKEND_DEFAULT),
      end_(device.type(), c10::EventFlag::BACKEND_DEFAULT) {}

void StepClock::begin() { begin_.record(Guard(device_.type()).getStream(device_)); }
void StepClock::end() { end_.record(Guard(device_.type()).getStream(device_)); }
int64_t StepClock::elapsed_ns() const { return std::llround(begin_.elapsedTime(end_) * 1e6); }

}  // namespace tbd::pytorch
