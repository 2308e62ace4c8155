#include "data/source.h"

#include <algorithm>

#include "base/codec.h"
#include "data/detection/coco.h"
#include "data/detection/synthetic_detection.h"
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

template <>
struct codec::EnumNames<SourceKind> {
  static constexpr std::string_view kNames[] = {
      "synthetic",   "image_folder", "parallel_text", "pretraining_text",  "squad",
      "packed_text", "speech",       "sgf",           "unlabelled_images", "coco"};
};
template <>
struct codec::Noun<SourceKind> {
  static constexpr std::string_view kText = "data source";
};
template <>
struct codec::EnumNames<Split> {
  static constexpr std::string_view kNames[] = {"train", "val"};
};
template <>
struct codec::Noun<Split> {
  static constexpr std::string_view kText = "split";
};

template <codec::Is<SourceSpec> T>
void fields(T& spec, auto visit) {
  visit("kind", codec::Must{spec.kind});
  visit("path", spec.path);
  visit("split", spec.split);
  visit("batch", spec.batch);
  visit("image_size", spec.image_size);
  visit("classes", spec.classes);
  visit("board", spec.board);
  visit("labelled", spec.labelled);
  visit("text", spec.text);
  visit("speech", spec.speech);
  visit("detection", spec.detection);
  visit("seed", spec.seed);
  visit("threads", spec.threads);
  visit("prefetch", spec.prefetch);
  visit("first_step", spec.first_step);
}

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
          "the requested bucket is not among the buckets");
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
  check(spec.detection);
  if (has_segments(spec)) require_within("length", spec.text.length, 5, 1 << 20);
  require(spec.kind == SourceKind::synthetic || !spec.path.empty(), "a data set needs a path");
}

std::unique_ptr<Samples> samples_of(const SourceSpec& spec) {
  switch (spec.kind) {
    case SourceKind::synthetic:
      if (spec.speech.wanted) return synthetic_speech_samples(spec);
      if (spec.detection.task != DetectionTask::none) return synthetic_detection_samples(spec);
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
    case SourceKind::coco:
      return coco_samples(spec);
  }
  fail(ErrorKind::internal, "a source kind without samples");
}

}  // namespace

std::unique_ptr<Source> open_source(const SourceSpec& spec) {
  check_source(spec);
  return prefetching_source(spec, samples_of(spec));
}

std::string_view name(SourceKind kind) { return codec::enum_name(kind); }

Json source_spec_json(const SourceSpec& spec) { return codec::write_fields<codec::JsonForm::settings>(spec); }

SourceSpec source_spec_from(const Json& json, SourceSpec spec) {
  codec::read_fields<codec::JsonForm::settings>(json, spec);
  return spec;
}

}  // namespace tbd
