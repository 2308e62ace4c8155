#include "data/source.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "data/go/positions.h"
#include "data/image_folder.h"
#include "data/prefetch.h"
#include "data/speech/speech.h"
#include "data/speech/synthetic_speech.h"
#include "data/synthetic.h"
#include "data/text/packed.h"
#include "data/text/pretraining.h"
#include "data/text/squad.h"
#include "data/text/synthetic_text.h"
#include "data/text/translation.h"
#include "data/unlabelled_images.h"

namespace tbd {
namespace {

void require_within(const char* what, int64_t value, int64_t low, int64_t high) {
  require(value >= low && value <= high, what, " must be from ", low, " to ", high, ", got ", value);
}

void check_text(const TextSpec& text) {
  constexpr int64_t kLongest = 1 << 20;
  require_within("vocabulary", text.vocabulary, 0, INT32_MAX);
  require_within("target_vocabulary", text.target_vocabulary, 0, INT32_MAX);
  require_within("target_slots", text.target_slots, 0, INT32_MAX);
  require_within("length", text.length, 1, kLongest);
  require_within("predictions", text.predictions, 1, kLongest);
  require_within("duplicates", text.duplicates, 1, 1 << 10);
  require_within("stride", text.stride, 1, kLongest);
  require_within("query", text.query, 1, kLongest);
  require(text.languages.size() == 2, "a pair has two languages, got ", text.languages.size());
  require(!text.buckets.empty() && text.buckets.size() < 1 << 10, "one to 1023 buckets, got ", text.buckets.size());
  for (const Bucket& bucket : text.buckets) {
    require_within("a bucket's source slots", bucket.source, 1, kLongest);
    require_within("a bucket's target slots", bucket.target, 2, kLongest);
  }
  for (size_t i = 1; i < text.buckets.size(); ++i)
    require(
        text.buckets[i].source >= text.buckets[i - 1].source && text.buckets[i].target >= text.buckets[i - 1].target,
        "buckets must ascend; number ", i + 1, " is smaller than the one before");
  require(!text.bucket || std::ranges::count(text.buckets, *text.bucket),
          "the bucket asked for is not among the buckets");
}

// Two segments, [CLS] and two [SEP].
bool has_segments(const SourceSpec& spec) {
  const bool synthetic = spec.kind == SourceKind::synthetic &&
                         (spec.text.task == TextTask::pretraining || spec.text.task == TextTask::squad);
  return synthetic || spec.kind == SourceKind::pretraining_text || spec.kind == SourceKind::squad;
}

void check_source(const SourceSpec& spec) {
  require_within("batch", spec.batch, 1, 1 << 20);
  require_within("image_size", spec.image_size, 1, 1 << 14);
  require_within("classes", spec.classes, 1, INT32_MAX);
  require_within("board", spec.board, 0, 19);
  require_within("threads", spec.threads, 0, 1 << 12);
  require_within("prefetch", spec.prefetch, 1, 1 << 12);
  require_within("first_step", spec.first_step, 1, UINT32_MAX);
  check_text(spec.text);
  check(spec.speech);
  if (has_segments(spec)) require_within("length", spec.text.length, 5, 1 << 20);
  require(spec.kind == SourceKind::synthetic || !spec.path.empty(), "a data set needs a path");
}

std::unique_ptr<Samples> samples_of(const SourceSpec& spec) {
  switch (spec.kind) {
    case SourceKind::synthetic:
      if (spec.speech.wanted) return synthetic_speech_samples(spec);
      if (spec.board > 0) return synthetic_positions(spec);
      if (!spec.labelled) return synthetic_unlabelled_samples(spec);
      return spec.text.task == TextTask::none ? synthetic_samples(spec) : synthetic_text_samples(spec);
    case SourceKind::image_folder:
      return image_folder_samples(spec);
    case SourceKind::parallel_text:
      return parallel_text_samples(spec);
    case SourceKind::pretraining_text:
      return pretraining_samples(spec);
    case SourceKind::squad:
      return squad_samples(spec);
    case SourceKind::packed_text:
      return packed_text_samples(spec);
    case SourceKind::speech:
      return speech_samples(spec);
    case SourceKind::sgf:
      return game_samples(spec);
    case SourceKind::unlabelled_images:
      return unlabelled_image_samples(spec);
  }
  fail(ErrorKind::internal, "a source kind without samples");
}

constexpr const char* kKinds[] = {"synthetic",   "image_folder", "parallel_text", "pretraining_text", "squad",
                                  "packed_text", "speech",       "sgf",           "unlabelled_images"};
constexpr const char* kSplits[] = {"train", "val"};

template <class Enum, size_t kCount>
Enum one_of(const char* what, const char* const (&names)[kCount], const std::string& name) {
  for (size_t i = 0; i < kCount; ++i)
    if (name == names[i]) return static_cast<Enum>(i);
  const std::vector<std::string> known(names, names + kCount);
  fail(ErrorKind::invalid, unknown_name(what, name, known));
}

template <class T>
void take(const Json& json, const char* key, T& value) {
  if (const std::optional<T> given = maybe<T>(json, key)) value = *given;
}

}  // namespace

std::unique_ptr<Source> open_source(const SourceSpec& spec) {
  check_source(spec);
  return prefetching_source(spec, samples_of(spec));
}

std::string_view name(SourceKind kind) { return kKinds[static_cast<size_t>(kind)]; }

Json source_spec_json(const SourceSpec& spec) {
  return {{"kind", name(spec.kind)},
          {"path", spec.path},
          {"split", kSplits[static_cast<size_t>(spec.split)]},
          {"batch", spec.batch},
          {"image_size", spec.image_size},
          {"classes", spec.classes},
          {"board", spec.board},
          {"labelled", spec.labelled},
          {"text", text_spec_json(spec.text)},
          {"speech", speech_spec_json(spec.speech)},
          {"seed", spec.seed},
          {"threads", spec.threads},
          {"prefetch", spec.prefetch},
          {"first_step", spec.first_step}};
}

SourceSpec source_spec_from(const Json& json, SourceSpec spec) {
  spec.kind = one_of<SourceKind>("data source", kKinds, at<std::string>(json, "kind"));
  if (const auto split = maybe<std::string>(json, "split")) spec.split = one_of<Split>("split", kSplits, *split);
  take(json, "path", spec.path);
  take(json, "batch", spec.batch);
  take(json, "image_size", spec.image_size);
  take(json, "classes", spec.classes);
  take(json, "board", spec.board);
  take(json, "labelled", spec.labelled);
  if (const auto text = maybe<Json>(json, "text")) spec.text = text_spec_from(*text, std::move(spec.text));
  if (const auto speech = maybe<Json>(json, "speech")) spec.speech = speech_spec_from(*speech, std::move(spec.speech));
  take(json, "seed", spec.seed);
  take(json, "threads", spec.threads);
  take(json, "prefetch", spec.prefetch);
  take(json, "first_step", spec.first_step);
  return spec;
}

}  // namespace tbd
