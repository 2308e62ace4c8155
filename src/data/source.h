// Batches of named host tensors, in the order and with the content that seed and step decide.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"

namespace tbd {

enum class SourceKind { synthetic, image_folder };
enum class Split { train, val };

// What to read and how; the `pipeline(spec)` of the worker protocol (docs/data.md has the keys).
struct SourceSpec {
  SourceKind kind = SourceKind::synthetic;
  std::string path;  // image_folder: the root of the tree; as the worker's process sees it
  Split split = Split::train;
  int64_t batch = 1;
  int64_t image_size = 224;  // height and width of a sample
  int64_t classes = 1000;    // labels are below this
  uint64_t seed = 0;
  int64_t threads = 1;     // that prepare batches ahead; 0: next prepares its batch itself
  int64_t prefetch = 2;    // batches prepared ahead at most
  int64_t first_step = 1;  // preparing begins with this step
  bool operator==(const SourceSpec&) const = default;
};
nlohmann::ordered_json source_spec_json(const SourceSpec& spec);
// Throws Error(invalid) naming the key; absent keys but `kind` keep the defaults above.
SourceSpec source_spec_from(const nlohmann::ordered_json& json);

// A file that could not be used, as often as it came: in the report it stands once.
struct BadFile {
  std::string path;    // below the root
  std::string reason;  // the decoder's or the system's words
};

struct SourceStatistics {
  int64_t images = 0;                       // prepared so far, some perhaps not yet asked for
  double cpu_seconds = 0;                   // CPU time of preparing them, over all threads
  double waited_seconds = 0;                // wall time that next waited for its batch
  int64_t waits = 0;                        // calls of next whose batch was not ready
  std::optional<int64_t> first_ready_step;  // the first step whose batch was ready when next was called
  std::vector<BadFile> bad_files;           // by path
};

// One batch a step. Tensors: `image` f32 (N, 3, S, S), `label` i32 (N). Steps count from 1. The content of a batch is
// a function of spec (without threads, prefetch, first_step) and step. Not thread-safe but where said.
class Source {
 public:
  virtual ~Source() = default;

  // The batch of `step`, waiting until it is ready. Meant for rising steps; any other step restarts the preparing
  // there. Throws what preparing the batch threw; the next step can still be asked for.
  virtual TensorMap next(int64_t step) = 0;
  // Gives back a batch of next for reuse of its memory; optional.
  virtual void recycle(TensorMap batch) = 0;
  // The same batch, prepared by the calling thread: for batches that stay in memory. Thread-safe.
  virtual TensorMap batch_at(int64_t step) const = 0;

  // Images in the data set; nullopt where it has no end (synthetic).
  virtual std::optional<int64_t> size() const = 0;
  // Steps until every image has come once; nullopt where there is no end. Training drops a last partial batch,
  // validation keeps it, and its tensors are then shorter.
  virtual std::optional<int64_t> steps_per_epoch() const = 0;
  // content_sha256 of the tree's data.json, where it has one (docs/data.md).
  virtual std::optional<std::string> data_hash() const = 0;
  virtual SourceStatistics statistics() const = 0;  // thread-safe
};

// Throws Error(not_found or io) for a folder that is missing or cannot be read, Error(invalid) for a spec that makes no
// sense, a folder without a usable image, with more class folders than spec.classes, or with fewer images than a
// training batch.
std::unique_ptr<Source> open_source(const SourceSpec& spec);

}  // namespace tbd
