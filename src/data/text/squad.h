// Windows of question and context for extractive question answering.
// Devlin et al. 2018, arXiv:1810.04805, section 4.2; google-research/bert run_squad.py.
#pragma once
#include <memory>
#include <span>

#include "data/samples.h"
#include "data/text/sequences.h"
#include "data/text/squad_file.h"
#include "data/text/wordpiece.h"

namespace tbd {

// Some tokens of a context behind the question, as one sample: [CLS] question [SEP] context part [SEP].
struct SquadWindow {
  size_t question = 0;          // of SquadSet::file().questions
  size_t first = 0, count = 0;  // tokens of the context
  int32_t start = 0, end = 0;   // labels: places in the sample; 0 where the answer is not all inside
};

// All windows of a file, tokenised. Questions are cut to spec.text.query tokens; windows of a context begin `stride`
// tokens apart and hold what S leaves room for; the last ends with the context. Questions that leave no room are left
// out and noted in file(); Error(invalid) when strict, or when none is left.
class SquadSet {
 public:
  SquadSet(const SourceSpec& spec, SquadFile file, WordPiece pieces);

  const SquadFile& file() const { return file_; }
  const WordPiece& pieces() const { return pieces_; }
  const std::vector<SquadWindow>& windows() const { return windows_; }
  std::span<const int32_t> query(const SquadWindow& window) const { return queries_[window.question]; }
  std::span<const int32_t> part(const SquadWindow& window) const;
  // The place in a sample of the window's first context token.
  int32_t context_place(const SquadWindow& window) const;

  // For scoring. What the context says from one place of a sample to another, both included; empty where a place is not
  // of the context.
  std::string_view answer(const SquadWindow& window, int64_t start, int64_t end) const;
  // Whether of all windows with the token at `place`, this one gives it the most context on its poorer side (plus a
  // hundredth of its size, ties to the earlier): the reference scores starts only there.
  bool is_best_context(size_t window, int64_t place) const;

 private:
  struct Context {
    std::vector<int32_t> ids;
    std::vector<Piece> pieces;
  };
  void add_windows(size_t question, const TextSpec& spec);
  void leave_out(const std::vector<size_t>& without_room, const SourceSpec& spec);

  SquadFile file_;
  WordPiece pieces_;
  std::vector<Context> contexts_;
  std::vector<std::vector<int32_t>> queries_;
  std::vector<SquadWindow> windows_;  // by question
};
// With path/vocab.txt, or a vocabulary trained on the training file's contexts and questions.
SquadSet open_squad_set(const SourceSpec& spec);

// input_ids, token_type_ids, attention_mask (S); start, end.
BatchLayout squad_layout(const TextSpec& spec, int64_t samples);
std::unique_ptr<Samples> squad_samples(const SourceSpec& spec);

}  // namespace tbd
