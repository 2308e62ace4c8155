#include "data/source.h"

#include "base/error.h"
#include "data/image_folder.h"
#include "data/prefetch.h"
#include "data/synthetic.h"

namespace tbd {
namespace {

void check(const SourceSpec& spec) {
  const auto within = [](const char* what, int64_t value, int64_t low, int64_t high) {
    require(value >= low && value <= high, what, " must be from ", low, " to ", high, ", got ", value);
  };
  within("batch", spec.batch, 1, 1 << 20);
  within("image_size", spec.image_size, 1, 1 << 14);
  within("classes", spec.classes, 1, INT32_MAX);
  within("threads", spec.threads, 0, 1 << 12);
  within("prefetch", spec.prefetch, 1, 1 << 12);
  within("first_step", spec.first_step, 1, UINT32_MAX);
  require(spec.kind == SourceKind::synthetic || !spec.path.empty(), "an image folder needs a path");
}

std::unique_ptr<Samples> samples_of(const SourceSpec& spec) {
  switch (spec.kind) {
    case SourceKind::synthetic:
      return synthetic_samples(spec);
    case SourceKind::image_folder:
      return image_folder_samples(spec);
  }
  fail(ErrorKind::internal, "a source kind without samples");
}

}  // namespace

std::unique_ptr<Source> open_source(const SourceSpec& spec) {
  check(spec);
  return prefetching_source(spec, samples_of(spec));
}

}  // namespace tbd
