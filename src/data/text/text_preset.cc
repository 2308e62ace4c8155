#include "data/text/text_spec.h"

namespace tbd {
namespace {

// fairseq's ids are the defaults; its transformer shares one vocabulary.
TextSpec transformer() {
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

std::vector<Bucket> even_buckets(int64_t width, int64_t longest) {
  std::vector<Bucket> buckets;
  for (int64_t bound = width; bound <= longest; bound += width) buckets.push_back({bound, bound});
  return buckets;
}

TextSpec text_preset(std::string_view model, std::string_view config) {
  if (model == "transformer") return transformer();
  if (model == "seq2seq" && config.starts_with("gnmt")) return gnmt();
  return {};
}

}  // namespace tbd
