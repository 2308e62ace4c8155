#include "base/error.h"
#include "base/text.h"
#include "data/text/text_spec.h"

namespace tbd {
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
