#include "data/text/pretraining_pairs.h"

#include "data/text/draws.h"

namespace tbd {
namespace {

class PairMaker {
 public:
  PairMaker(const TokenizedText& text, int64_t max_tokens, size_t document, const Philox& stream)
      : text_(text), max_tokens_(max_tokens), document_(document), draws_(stream) {}

  void append_to(std::vector<SegmentPair>& pairs) {
    const size_t end = text_.document_ends[document_];
    for (size_t first = text_.document_begin(document_); first < end;) {
      const int64_t target = draws_.chance(0.1) && max_tokens_ > 2 ? draws_.between(2, max_tokens_) : max_tokens_;
      const size_t last = chunk_end(first, end, target);
      first = pair(first, last, target, pairs);
    }
  }

 private:
  int64_t tokens_between(size_t first, size_t last) const {
    return static_cast<int64_t>(text_.sentence_begin(last) - text_.sentence_begin(first));
  }
  // One past the last sentence of a chunk that reaches `target` tokens or the end.
  size_t chunk_end(size_t first, size_t end, int64_t target) const {
    size_t last = first + 1;
    while (last < end && tokens_between(first, last) < target) ++last;
    return last;
  }

  // Makes a pair of the sentences `first` to `last`; the sentence with which the next begins.
  size_t pair(size_t first, size_t last, int64_t target, std::vector<SegmentPair>& pairs) {
    const auto sentences = static_cast<int64_t>(last - first);
    const size_t a_end = first + static_cast<size_t>(sentences >= 2 ? draws_.between(1, sentences - 1) : 1);
    SegmentPair made{.a_begin = text_.sentence_begin(first), .a_end = text_.sentence_ends[a_end - 1]};
    made.random_next = sentences == 1 || draws_.chance(0.5);
    if (made.random_next) {
      random_segment(target - tokens_between(first, a_end), made);
    } else {
      made.b_begin = made.a_end;
      made.b_end = text_.sentence_ends[last - 1];
    }
    pairs.push_back(made);
    return made.random_next ? a_end : last;
  }

  void random_segment(int64_t target, SegmentPair& made) {
    const auto documents = static_cast<int64_t>(text_.document_ends.size());
    auto other = static_cast<size_t>(draws_.below(documents));
    for (int tries = 1; tries < 10 && other == document_; ++tries) other = static_cast<size_t>(draws_.below(documents));
    const size_t begin = text_.document_begin(other), end = text_.document_ends[other];
    const size_t first = begin + static_cast<size_t>(draws_.below(static_cast<int64_t>(end - begin)));
    made.b_begin = text_.sentence_begin(first);
    made.b_end = text_.sentence_ends[chunk_end(first, end, target) - 1];
  }

  const TokenizedText& text_;
  int64_t max_tokens_;
  size_t document_;
  Draws draws_;
};

}  // namespace

std::vector<SegmentPair> pretraining_pairs(const TokenizedText& text, int64_t max_tokens, int64_t duplicates,
                                           uint64_t seed) {
  const Philox stream(seed, "data/pretraining_pairs");
  std::vector<SegmentPair> pairs;
  for (int64_t duplicate = 0; duplicate < duplicates; ++duplicate)
    for (size_t document = 0; document < text.document_ends.size(); ++document) {
      const Philox own = stream.at(static_cast<uint32_t>(duplicate), static_cast<uint32_t>(document));
      PairMaker(text, max_tokens, document, own).append_to(pairs);
    }
  return pairs;
}

}  // namespace tbd
