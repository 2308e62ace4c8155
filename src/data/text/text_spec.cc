#include "data/text/text_spec.h"

#include "base/codec.h"

namespace tbd {

template <>
struct codec::EnumNames<TextTask> {
  static constexpr std::string_view kNames[] = {"none", "translation", "pretraining", "squad", "language_model"};
};
template <>
struct codec::Noun<TextTask> {
  static constexpr std::string_view kText = "text task";
};

Json to_json_value(const Bucket& bucket) { return {bucket.source, bucket.target}; }
void from_json_value(const Json& json, Bucket& bucket) {
  require(json.is_array() && json.size() == 2 && json[0].is_number_integer() && json[1].is_number_integer(),
          "a bucket is [source, target], got ", json.dump());
  bucket = {json[0].get<int64_t>(), json[1].get<int64_t>()};
}

template <codec::Is<SpecialIds> T>
void fields(T& ids, auto visit) {
  visit("bos", codec::Must{ids.bos});
  visit("pad", codec::Must{ids.pad});
  visit("eos", codec::Must{ids.eos});
  visit("unk", codec::Must{ids.unk});
}
template <codec::Is<TextSpec> T>
void fields(T& spec, auto visit) {
  visit("task", spec.task);
  visit("ids", spec.ids);
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
  visit("buckets", spec.buckets);
  visit("bucket", spec.bucket);
}

namespace {

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

Json to_json_value(const TextSpec& spec) { return codec::write_fields<codec::JsonForm::settings>(spec); }
void from_json_value(const Json& json, TextSpec& spec) {
  if (const auto name = maybe<std::string>(json, "conventions")) spec = text_conventions(*name);
  codec::read_fields<codec::JsonForm::settings>(json, spec);
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
