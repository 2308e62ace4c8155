// Batches of named host tensors, in the order and with the content that seed and step decide.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "data/bad_file.h"
#include "data/detection/detection_spec.h"
#include "data/speech/speech_spec.h"
#include "data/text/text_spec.h"

namespace tbd {

enum class SourceKind {
  synthetic,
  image_folder,
  parallel_text,
  pretraining_text,
  squad,
  packed_text,
  speech,
  sgf,
  unlabelled_images,
  coco
};
enum class Split { train, val };

// What to read and how; the `pipeline(spec)` of the worker protocol (docs/data.md has the keys).
struct SourceSpec {
  SourceKind kind = SourceKind::synthetic;
  std::string path;  // the root of the tree, or a file; as the worker's process sees it
  Split split = Split::train;
  int64_t batch = 1;
  int64_t image_size = 224;      // height and width of a sample
  int64_t classes = 1000;        // labels are below this
  int64_t board = 0;             // Go: rows and columns. sgf, 0: the first game's; synthetic, 0: no positions of Go
  bool labelled = true;          // synthetic images: image and label; else as unlabelled_images
  TextSpec text = {};            // text kinds, and synthetic text; strict for all
  SpeechSpec speech = {};        // speech, and synthetic speech
  DetectionSpec detection = {};  // coco, and synthetic pictures with boxes
  uint64_t seed = 0;
  int64_t threads = 1;     // that prepare batches ahead; 0: next prepares its batch itself
  int64_t prefetch = 2;    // batches prepared ahead at most
  int64_t first_step = 1;  // preparing begins with this step
  bool operator==(const SourceSpec&) const = default;
};
nlohmann::ordered_json source_spec_json(const SourceSpec& spec);
// Throws Error(invalid) naming the key; absent keys but `kind` keep what `spec` has, those of its text, speech and
// detection one by one.
SourceSpec source_spec_from(const nlohmann::ordered_json& json, SourceSpec spec = {});

// An input that a program reads, bound to extents.
struct WantedInput {
  std::string name;
  Shape shape;
  int64_t below = 0;  // integers are below this: rows of the embedding, logits of the loss; 0: unknown
};
// nullptr where no input has the name.
const WantedInput* find_input(std::span<const WantedInput> inputs, std::string_view name);
// The kind of data set whose batches have these inputs; nullopt where none has. Its name is that of the spec's `kind`.
std::optional<SourceKind> kind_of_files(std::span<const WantedInput> inputs);
std::string_view name(SourceKind kind);

// `spec` with the batch, extents and vocabulary of a program's inputs, and for synthetic data the task that they tell.
// nullopt where data of spec's kind has not exactly these inputs.
std::optional<SourceSpec> fitted(SourceSpec spec, std::span<const WantedInput> inputs);

struct SourceStatistics {
  int64_t images = 0;                       // samples prepared so far, some perhaps not yet asked for
  double cpu_seconds = 0;                   // CPU time of preparing them, over all threads
  double waited_seconds = 0;                // wall time that next waited for its batch
  int64_t waits = 0;                        // calls of next whose batch was not ready
  std::optional<int64_t> first_ready_step;  // the first step whose batch was ready when next was called
  std::vector<BadFile> bad_files;           // by path
  std::vector<std::string> notes;           // what files were made to fit: "3 recordings of 8000 Hz resampled to 16000"
};

// Scalars of a batch, f64, absent where a source has no such count:
//   count/<term>   what norm/<term> divides by: norm/<term> = the term's numerator / the sum of count/<term> over the
//                  micro-batches and ranks of one update; where absent, samples are counted instead;
//   count/tokens   valid tokens, and count/slots, places for tokens: valid and padded units;
//   count/source_tokens, count/target_tokens, count/source_slots, count/target_slots: the same by side;
//   count/frames, count/frame_slots, count/seconds, count/second_slots: the same of speech, and in seconds of audio;
//   count/pixels, count/pixel_slots: of pictures of several sizes, without and with their padding.
inline constexpr std::string_view kCount = "count/";
// Of validation, what no program reads but a judge of answers: about/position (N) i32, the sample's place in the set.
inline constexpr std::string_view kPosition = "about/position";

// One batch a step: the tensors that docs/data.md lists for spec's kind, with N first in each, and scalars "count/..."
// of f64 that say what was counted in the batch (kCount). Steps count from 1. The content of a batch is a function of
// spec (without threads, prefetch, first_step) and step. Not thread-safe but where said.
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

  // Samples in the data set; nullopt where it has no end (synthetic).
  virtual std::optional<int64_t> size() const = 0;
  // Steps until every sample has come once; nullopt where there is no end. Training drops a last partial batch,
  // validation keeps it, and its tensors are then shorter.
  virtual std::optional<int64_t> steps_per_epoch() const = 0;
  // content_sha256 of the tree's data.json, where it has one (docs/data.md).
  virtual std::optional<std::string> data_hash() const = 0;
  virtual SourceStatistics statistics() const = 0;  // thread-safe
};

// Throws Error(not_found or io) for a folder or file that is missing or cannot be read, Error(invalid) for a spec that
// makes no sense, a data set without a usable sample or with fewer samples than a training batch, a label or a token
// that the network has no place for, and a malformed file, by name and line.
std::unique_ptr<Source> open_source(const SourceSpec& spec);

}  // namespace tbd
