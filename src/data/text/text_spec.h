// What a source of text is asked for: the part of SourceSpec that images do not need.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

// Which inputs a text source gives (docs/data.md).
enum class TextTask { none, translation, pretraining, squad, language_model };

// Ids that are no words.
struct SpecialIds {
  int32_t bos = 0, pad = 1, eos = 2, unk = 3;
  bool operator==(const SpecialIds&) const = default;
};

// Token slots of a padded pair.
struct Bucket {
  int64_t source = 0, target = 0;
  bool operator==(const Bucket&) const = default;
};

// Bounds that are multiples of `width` up to `longest`, for both sides.
std::vector<Bucket> even_buckets(int64_t width, int64_t longest);

struct TextSpec {
  TextTask task = TextTask::none;  // of synthetic text; other kinds know theirs
  int64_t vocabulary = 0;          // rows of the network's embedding, of the source language where there are two
  int64_t target_vocabulary = 0;   // rows of the target language's
  std::string vocabulary_file;     // below path, instead of the usual names (docs/data.md)
  bool strict = false;             // what else would be left out and reported is an error

  // Translation.
  std::vector<std::string> languages = {"en", "vi"};  // suffixes of the files, the source's first
  std::string stem;                                   // of the files, instead of the usual names
  std::string merges_file;                            // below path: byte-pair merges to apply; empty: none
  SpecialIds ids;
  bool start_with_bos = false;                          // tgt_in begins with bos; else with eos
  bool shared_vocabulary = false;                       // one for both languages
  bool reverse_source = false;                          // words of the source last to first
  bool count_targets = true;                            // count/ce: non-pad targets; else absent, so samples count
  std::vector<Bucket> buckets = even_buckets(10, 100);  // ascending; a pair goes to the first that holds it
  std::optional<Bucket> bucket;                         // one of them: batches come from it alone
  int64_t target_slots = 0;                             // of a batch: N = target_slots / bucket's; 0: N = batch

  // One sequence: pre-training, SQuAD, language modelling.
  int64_t length = 128;      // S or T
  int64_t predictions = 20;  // masked positions of a sample at most
  int64_t duplicates = 5;    // pre-training: passes over the text, each masked anew, in one epoch
  int64_t stride = 128;      // SQuAD: from window to window
  int64_t query = 64;        // SQuAD: tokens of a question at most
  bool operator==(const TextSpec&) const = default;
};
nlohmann::ordered_json to_json_value(const TextSpec& spec);
// Throws Error(invalid) naming the key; absent keys keep what `spec` has, or with "conventions" what these say.
void from_json_value(const nlohmann::ordered_json& json, TextSpec& spec);

// Ids, buckets, vocabularies and order as a reference implementation has them, by its name: "fairseq" (the defaults),
// "fairseq-shared" (one vocabulary for both languages), "gnmt" (NVIDIA's). Throws Error(invalid) for another name.
TextSpec text_conventions(std::string_view name);

}  // namespace tbd
