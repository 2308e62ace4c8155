#include <algorithm>

#include "data/detection/wanted_detection.h"
#include "data/go/positions.h"
#include "data/source.h"
#include "data/spectrogram.h"

namespace tbd {
namespace {

struct TaskInputs {
  TextTask task;  // none: images
  std::vector<std::string> needed, optional;
};
const std::vector<TaskInputs>& all_tasks() {
  static const std::vector<TaskInputs> all = {
      {TextTask::none, {"image"}, {"label"}},
      {TextTask::translation, {"src", "tgt_in", "tgt_out"}, {"src_len"}},
      {TextTask::pretraining,
       {"input_ids", "masked_positions", "masked_labels", "masked_weights", "next_label"},
       {"token_type_ids", "attention_mask"}},
      {TextTask::squad, {"input_ids", "start", "end"}, {"token_type_ids", "attention_mask"}},
      {TextTask::language_model, {"ids", "labels"}, {}}};
  return all;
}

// Speech stands beside the tasks of text.
const std::vector<std::string>& speech_inputs() {
  static const std::vector<std::string> all = {"spect", "frames", "labels", "label_len"};
  return all;
}

// Images without labels, and what mixes them with made ones; noise is drawn where the inputs are.
const std::vector<std::string>& unlabelled_inputs() {
  static const std::vector<std::string> all = {"real", "alpha", "z"};
  return all;
}

std::optional<TextTask> task_of(std::span<const WantedInput> inputs) {
  for (const TaskInputs& task : all_tasks()) {
    const bool complete = std::ranges::all_of(task.needed, [&](const auto& name) { return find_input(inputs, name); });
    const bool nothing_else = std::ranges::all_of(inputs, [&](const WantedInput& input) {
      return std::ranges::count(task.needed, input.name) + std::ranges::count(task.optional, input.name) > 0;
    });
    if (complete && nothing_else) return task.task;
  }
  return std::nullopt;
}

bool offers(SourceKind kind, TextTask task) {
  switch (kind) {
    case SourceKind::synthetic:
      return true;
    case SourceKind::image_folder:
      return task == TextTask::none;
    case SourceKind::parallel_text:
      return task == TextTask::translation;
    case SourceKind::pretraining_text:
      return task == TextTask::pretraining;
    case SourceKind::squad:
      return task == TextTask::squad;
    case SourceKind::packed_text:
      return task == TextTask::language_model;
    case SourceKind::speech:
    case SourceKind::sgf:
    case SourceKind::unlabelled_images:
    case SourceKind::coco:
      return false;
  }
  return false;
}

bool wants_speech(std::span<const WantedInput> inputs) {
  return inputs.size() == speech_inputs().size() &&
         std::ranges::all_of(speech_inputs(), [&](const auto& name) { return find_input(inputs, name); });
}

bool fit_speech(SourceSpec& spec, std::span<const WantedInput> inputs) {
  const WantedInput &spect = *find_input(inputs, "spect"), &labels = *find_input(inputs, "labels");
  if (spect.shape.rank() != 4 || spect.shape[1] != 1 || spect.shape[2] != kSpectrogramBins) return false;
  if (labels.shape.rank() != 2) return false;
  SpeechSpec& speech = spec.speech;
  const int64_t wanted = spect.shape[3];
  if (!std::ranges::count(speech.buckets, wanted)) speech.buckets = {wanted};
  speech.bucket = wanted;
  speech.labels = labels.shape[1];
  speech.wanted = true;
  spec.batch = spect.shape[0];
  return true;
}

bool wants_unlabelled(std::span<const WantedInput> inputs) {
  return find_input(inputs, "real") && std::ranges::all_of(inputs, [](const WantedInput& input) {
           return std::ranges::count(unlabelled_inputs(), input.name) > 0;
         });
}

bool fit_unlabelled(SourceSpec& spec, std::span<const WantedInput> inputs) {
  const Shape& real = find_input(inputs, "real")->shape;
  if (real.rank() != 4 || real[1] != 3 || real[2] != real[3]) return false;
  const WantedInput* alpha = find_input(inputs, "alpha");
  if (alpha && alpha->shape != Shape{real[0], 1, 1, 1}) return false;
  spec.batch = real[0];
  spec.image_size = real[2];
  spec.labelled = false;
  return true;
}

bool fit_images(SourceSpec& spec, std::span<const WantedInput> inputs) {
  const WantedInput& image = *find_input(inputs, "image");
  if (image.shape.rank() != 4 || image.shape[1] != 3 || image.shape[2] != image.shape[3]) return false;
  spec.batch = image.shape[0];
  spec.image_size = image.shape[2];
  const WantedInput* label = find_input(inputs, "label");
  if (label && label->shape.rank() != 1) return false;
  if (label && label->below > 0) spec.classes = label->below;
  return true;
}

bool fit_translation(SourceSpec& spec, std::span<const WantedInput> inputs) {
  const WantedInput &src = *find_input(inputs, "src"), &target = *find_input(inputs, "tgt_in");
  if (src.shape.rank() != 2 || target.shape.rank() != 2) return false;
  TextSpec& text = spec.text;
  const Bucket wanted{src.shape[1], target.shape[1]};
  if (!std::ranges::count(text.buckets, wanted)) text.buckets = {wanted};
  text.bucket = wanted;
  text.target_slots = 0;  // the program has its batch
  spec.batch = src.shape[0];
  if (src.below > 0) text.vocabulary = src.below;
  if (target.below > 0) text.target_vocabulary = target.below;
  return true;
}

bool fit_sequence(SourceSpec& spec, std::span<const WantedInput> inputs, const std::string& tokens) {
  const WantedInput& ids = *find_input(inputs, tokens);
  if (ids.shape.rank() != 2) return false;
  spec.batch = ids.shape[0];
  spec.text.length = ids.shape[1];
  if (ids.below > 0) spec.text.vocabulary = ids.below;
  const WantedInput* masked = find_input(inputs, "masked_positions");
  if (masked && masked->shape.rank() != 2) return false;
  if (masked) spec.text.predictions = masked->shape[1];
  return true;
}

}  // namespace

const WantedInput* find_input(std::span<const WantedInput> inputs, std::string_view name) {
  const auto found = std::ranges::find(inputs, name, &WantedInput::name);
  return found == inputs.end() ? nullptr : &*found;
}

std::optional<SourceKind> kind_of_files(std::span<const WantedInput> inputs) {
  if (wants_detection(inputs)) return SourceKind::coco;
  if (wants_speech(inputs)) return SourceKind::speech;
  if (wants_positions(inputs)) return SourceKind::sgf;
  if (wants_unlabelled(inputs)) return SourceKind::unlabelled_images;
  const std::optional<TextTask> task = task_of(inputs);
  if (!task) return std::nullopt;
  switch (*task) {
    case TextTask::none:
      return SourceKind::image_folder;
    case TextTask::translation:
      return SourceKind::parallel_text;
    case TextTask::pretraining:
      return SourceKind::pretraining_text;
    case TextTask::squad:
      return SourceKind::squad;
    case TextTask::language_model:
      return SourceKind::packed_text;
  }
  return std::nullopt;
}

std::optional<SourceSpec> fitted(SourceSpec spec, std::span<const WantedInput> inputs) {
  if (wants_positions(inputs)) return fitted_positions(std::move(spec), inputs);
  spec.board = 0;
  if (wants_detection(inputs)) return fitted_detection(std::move(spec), inputs);
  spec.detection.task = DetectionTask::none;
  if (wants_speech(inputs)) {
    const bool offered = spec.kind == SourceKind::speech || spec.kind == SourceKind::synthetic;
    return offered && fit_speech(spec, inputs) ? std::optional(std::move(spec)) : std::nullopt;
  }
  if (wants_unlabelled(inputs)) {
    const bool offered = spec.kind == SourceKind::unlabelled_images || spec.kind == SourceKind::synthetic;
    return offered && fit_unlabelled(spec, inputs) ? std::optional(std::move(spec)) : std::nullopt;
  }
  const std::optional<TextTask> task = task_of(inputs);
  if (!task || !offers(spec.kind, *task)) return std::nullopt;
  spec.text.task = *task;
  const auto fits = [&] {
    if (task == TextTask::none) return fit_images(spec, inputs);
    if (task == TextTask::translation) return fit_translation(spec, inputs);
    return fit_sequence(spec, inputs, task == TextTask::language_model ? "ids" : "input_ids");
  };
  return fits() ? std::optional(std::move(spec)) : std::nullopt;
}

}  // namespace tbd
