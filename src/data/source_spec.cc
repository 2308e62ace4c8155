#include "base/json.h"
#include "data/source.h"

namespace tbd {
namespace {

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
