#include "data/text/parallel_text.h"

#include <algorithm>

#include "base/error.h"
#include "data/text/bpe.h"
#include "data/text/parallel_files.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

std::unique_ptr<Bpe> merges_of(const SourceSpec& spec) {
  if (spec.text.merges_file.empty()) return nullptr;
  return std::make_unique<Bpe>(TextFile(fs::path(spec.path) / spec.text.merges_file));
}

WordCounts counted(std::span<const fs::path> files, const Bpe* bpe) {
  WordCounts words;
  for (const fs::path& file : files) count_words(TextFile(file), words);
  if (!bpe) return words;
  WordCounts pieces;
  for (const auto& [word, count] : words)
    for (const std::string& piece : bpe->pieces(word)) pieces[piece] += count;
  return pieces;
}

Vocabulary vocabulary_of(const SourceSpec& spec, size_t side, LineNotes& notes) {
  const TextSpec& text = spec.text;
  const int64_t given = side == 0 || text.shared_vocabulary ? text.vocabulary : text.target_vocabulary;
  const int64_t rows = given == 0 ? INT32_MAX : given;
  require(rows > 4, "a network with ", rows, " rows for tokens has none for words");
  if (const fs::path file = find_vocabulary_file(spec, text.languages[side]); !file.empty())
    return read_vocabulary(file, text.ids, rows, notes);
  const ParallelFiles training = find_training_files(spec);
  std::vector<fs::path> files = {side == 0 ? training.source : training.target};
  if (text.shared_vocabulary) files = {training.source, training.target};
  const WordCounts counts = counted(files, merges_of(spec).get());
  return Vocabulary(text.ids, most_frequent(counts, static_cast<size_t>(rows) - 4));
}

// Words to ids, each word looked up and cut once.
class Encoder {
 public:
  Encoder(const Vocabulary& vocabulary, const Bpe* bpe) : vocabulary_(vocabulary), bpe_(bpe) {}

  void encode(std::string_view line, std::vector<int32_t>& ids) {
    for (const std::string_view word : words_of(line)) {
      auto known = known_.find(word);
      if (known == known_.end()) known = known_.emplace(word, ids_of(word)).first;
      ids.insert(ids.end(), known->second.begin(), known->second.end());
    }
  }

 private:
  std::vector<int32_t> ids_of(std::string_view word) const {
    if (!bpe_) return {vocabulary_.id(word)};
    std::vector<int32_t> ids;
    for (const std::string& piece : bpe_->pieces(word)) ids.push_back(vocabulary_.id(piece));
    return ids;
  }

  const Vocabulary& vocabulary_;
  const Bpe* bpe_;
  TextMap<std::vector<int32_t>> known_;
};

bool says_nothing(std::string_view line) { return trim(line).empty() || trim(line) == "."; }

void require_partners(const TextFile& source, const TextFile& target) {
  if (source.size() == target.size()) return;
  const bool longer = source.size() > target.size();
  const TextFile &more = longer ? source : target, &less = longer ? target : source;
  fail(ErrorKind::invalid, more.where(less.size()), ": no counterpart in ", less.name(), "; ", more.size(),
       " lines against ", less.size());
}

}  // namespace

Vocabularies read_vocabularies(const SourceSpec& spec, LineNotes& notes) {
  Vocabulary source = vocabulary_of(spec, 0, notes);
  if (spec.text.shared_vocabulary) return {source, source};
  return {std::move(source), vocabulary_of(spec, 1, notes)};
}

ParallelText::ParallelText(const SourceSpec& spec)
    : notes_(spec.text.strict), vocabularies_(read_vocabularies(spec, notes_)) {
  read(spec);
  if (!pairs_.empty()) return;
  const std::vector<BadFile> notes = notes_.list();
  fail(ErrorKind::invalid, spec.path, " has no pair of sentences that can be used",
       notes.empty() ? "" : cat("; ", notes[0].path, ": ", notes[0].reason));
}

void ParallelText::read(const SourceSpec& spec) {
  const ParallelFiles files = find_parallel_files(spec);
  const TextFile sources(files.source), targets(files.target);
  require_partners(sources, targets);
  const auto bpe = merges_of(spec);
  Encoder encode_source(vocabularies_.source, bpe.get()), encode_target(vocabularies_.target, bpe.get());
  const std::vector<Bucket>& buckets = spec.text.buckets;
  for (size_t line = 0; line < sources.size(); ++line) {
    if (says_nothing(sources[line]) || says_nothing(targets[line])) {
      notes_.add(says_nothing(sources[line]) ? sources : targets, line, "an empty sentence");
      continue;
    }
    Pair pair{.begin = tokens_.size(), .line = static_cast<uint32_t>(line)};
    encode_source.encode(sources[line], tokens_);
    pair.source = static_cast<uint32_t>(tokens_.size() - pair.begin);
    encode_target.encode(targets[line], tokens_);
    pair.target = static_cast<uint32_t>(tokens_.size() - pair.begin - pair.source);
    const auto bucket = std::ranges::find_if(
        buckets, [&](const Bucket& b) { return pair.source <= b.source && pair.target + 1 <= b.target; });
    if (bucket == buckets.end())
      notes_.add(pair.source > buckets.back().source ? sources : targets, line,
                 cat("a sentence longer than the ",
                     pair.source > buckets.back().source ? buckets.back().source : buckets.back().target - 1,
                     " tokens that the largest bucket holds"));
    if (bucket == buckets.end() || (spec.text.bucket && *bucket != *spec.text.bucket)) {
      tokens_.resize(pair.begin);
      continue;
    }
    pair.bucket = static_cast<uint16_t>(bucket - buckets.begin());
    pairs_.push_back(pair);
  }
}

std::span<const int32_t> ParallelText::source(size_t pair) const {
  return std::span(tokens_).subspan(pairs_[pair].begin, pairs_[pair].source);
}
std::span<const int32_t> ParallelText::target(size_t pair) const {
  return std::span(tokens_).subspan(pairs_[pair].begin + pairs_[pair].source, pairs_[pair].target);
}

}  // namespace tbd
