#include "data/text/text_spec.h"

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr const char* kTasks[] = {"none", "translation", "pretraining", "squad", "language_model"};

TextTask task_from(const std::string& name) {
  for (size_t i = 0; i < std::size(kTasks); ++i)
    if (name == kTasks[i]) return static_cast<TextTask>(i);
  const std::vector<std::string> known(std::begin(kTasks), std::end(kTasks));
  fail(ErrorKind::invalid, unknown_name("text task", name, known));
}

Json bucket_json(const Bucket& bucket) { return {bucket.source, bucket.target}; }
Bucket bucket_from(const Json& json) {
  require(json.is_array() && json.size() == 2 && json[0].is_number_integer() && json[1].is_number_integer(),
          "a bucket is [source, target], got ", json.dump());
  return {json[0].get<int64_t>(), json[1].get<int64_t>()};
}
Json ids_json(const SpecialIds& ids) {
  return {{"bos", ids.bos}, {"pad", ids.pad}, {"eos", ids.eos}, {"unk", ids.unk}};
}
SpecialIds ids_from(const Json& json) {
  return {.bos = at<int32_t>(json, "bos"),
          .pad = at<int32_t>(json, "pad"),
          .eos = at<int32_t>(json, "eos"),
          .unk = at<int32_t>(json, "unk")};
}

// The plain keys of both directions, so that none is forgotten in one of them.
template <class Spec, class Visit>
void each_plain_key(Spec& spec, const Visit& visit) {
  visit("vocabulary", spec.vocabulary);
  visit("target_vocabulary", spec.target_vocabulary);
  visit("vocabulary_file", spec.vocabulary_file);
  visit("strict", spec.strict);
  visit("languages", spec.languages);
  visit("stem", spec.stem);
  visit("merges_file", spec.merges_file);
  visit("start_with_bos", spec.start_with_bos);
  visit("shared_vocabulary", spec.shared_vocabulary);
  visit("reverse_source", spec.reverse_source);
  visit("count_targets", spec.count_targets);
  visit("target_slots", spec.target_slots);
  visit("length", spec.length);
  visit("predictions", spec.predictions);
  visit("duplicates", spec.duplicates);
  visit("stride", spec.stride);
  visit("query", spec.query);
}

// fairseq's ids are the defaults; its Transformer shares one vocabulary.
TextSpec shared_fairseq() {
  TextSpec spec{.languages = {"en", "de"}, .shared_vocabulary = true};
  spec.buckets.clear();
  for (const int64_t bound : {8, 16, 24, 32, 48, 64, 96, 128, 192, 256}) spec.buckets.push_back({bound, bound});
  return spec;
}

// NVIDIA DeepLearningExamples, PyTorch/Translation/GNMT.
TextSpec gnmt() {
  return {.languages = {"en", "de"},
          .ids = {.bos = 2, .pad = 0, .eos = 3, .unk = 1},
          .start_with_bos = true,
          .shared_vocabulary = true,
          .count_targets = false,
          .buckets = even_buckets(10, 50)};
}

}  // namespace

Json text_spec_json(const TextSpec& spec) {
  Json json = {{"task", kTasks[static_cast<size_t>(spec.task)]}, {"ids", ids_json(spec.ids)}};
  each_plain_key(spec, [&](const char* key, const auto& value) { json[key] = value; });
  json["buckets"] = Json::array();
  for (const Bucket& bucket : spec.buckets) json["buckets"].push_back(bucket_json(bucket));
  json["bucket"] = spec.bucket ? bucket_json(*spec.bucket) : Json();
  return json;
}

TextSpec text_spec_from(const Json& json, TextSpec spec) {
  if (const auto name = maybe<std::string>(json, "conventions")) spec = text_conventions(*name);
  if (const auto task = maybe<std::string>(json, "task")) spec.task = task_from(*task);
  each_plain_key(spec, [&](const char* key, auto& value) {
    if (auto given = maybe<std::decay_t<decltype(value)>>(json, key)) value = std::move(*given);
  });
  if (const auto ids = maybe<Json>(json, "ids")) spec.ids = ids_from(*ids);
  if (const auto bucket = maybe<Json>(json, "bucket")) spec.bucket = bucket_from(*bucket);
  if (const auto buckets = maybe<Json>(json, "buckets")) {
    spec.buckets.clear();
    for (const Json& bucket : *buckets) spec.buckets.push_back(bucket_from(bucket));
  }
  return spec;
}

std::vector<Bucket> even_buckets(int64_t width, int64_t longest) {
  std::vector<Bucket> buckets;
  for (int64_t bound = width; bound <= longest; bound += width) buckets.push_back({bound, bound});
  return buckets;
}

TextSpec text_conventions(std::string_view name) {
  if (name == "fairseq") return {};
  if (name == "fairseq-shared") return shared_fairseq();
  if (name == "gnmt") return gnmt();
  const std::vector<std::string> known = {"fairseq", "fairseq-shared", "gnmt"};
  fail(ErrorKind::invalid, unknown_name("text conventions", name, known));
}

}  // namespace tbd
