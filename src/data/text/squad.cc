#include "data/text/squad.h"

#include <algorithm>

#include "data/folder_listing.h"
#include "data/text/batch_order.h"
#include "data/text/wordpiece_of.h"

namespace tbd {
namespace {

// How much context a window gives a token: that of its poorer side, and a little for a long window.
double context_score(const SquadWindow& window, size_t token) {
  const size_t left = token - window.first, right = window.first + window.count - 1 - token;
  return static_cast<double>(std::min(left, right)) + 0.01 * static_cast<double>(window.count);
}
bool holds(const SquadWindow& window, size_t token) {
  return token >= window.first && token < window.first + window.count;
}

class SquadSamples final : public Samples {
 public:
  explicit SquadSamples(const SourceSpec& spec)
      : spec_(spec),
        set_(open_squad_set(spec)),
        order_(spec, std::vector<uint16_t>(set_.windows().size()), {spec.batch}) {}

  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t step) const override {
    BatchLayout layout = squad_layout(spec_.text, order_.batch(step).samples);
    if (spec_.split == Split::val) layout.tensors.push_back({std::string(kPosition), DType::i32, {}});
    return layout;
  }
  void add_counts(TensorMap& batch) const override { add_segment_counts(batch); }
  std::optional<int64_t> size() const override { return static_cast<int64_t>(set_.windows().size()); }
  std::optional<int64_t> steps_per_epoch() const override { return order_.steps_per_epoch(); }
  std::optional<std::string> data_hash() const override { return recorded_hash(spec_.path); }
  std::vector<BadFile> bad_files() const override { return set_.file().notes; }

 private:
  SourceSpec spec_;
  SquadSet set_;
  BatchOrder order_;

  class Maker;
};

class SquadSamples::Maker final : public SampleMaker {
 public:
  explicit Maker(const SquadSamples& samples) : samples_(samples) {}
  void make(int64_t step, int64_t slot, const Row& row) override {
    const SquadSet& set = samples_.set_;
    const uint32_t position = samples_.order_.position(step, slot);
    const SquadWindow& window = set.windows()[position];
    const WordPiece& pieces = set.pieces();
    write_segments({.pad = pieces.pad(), .cls = pieces.cls(), .sep = pieces.sep()}, set.query(window), set.part(window),
                   row);
    row.ints("start")[0] = window.start;
    row.ints("end")[0] = window.end;
    if (samples_.spec_.split == Split::val) row.ints(std::string(kPosition))[0] = static_cast<int32_t>(position);
  }

 private:
  const SquadSamples& samples_;
};

std::unique_ptr<SampleMaker> SquadSamples::maker() const { return std::make_unique<Maker>(*this); }

}  // namespace

SquadSet::SquadSet(const SourceSpec& spec, SquadFile file, WordPiece pieces)
    : file_(std::move(file)), pieces_(std::move(pieces)) {
  for (const std::string& text : file_.contexts) {
    Context context{.pieces = pieces_.pieces(text)};
    for (const Piece& piece : context.pieces) context.ids.push_back(piece.id);
    contexts_.push_back(std::move(context));
  }
  for (size_t i = 0; i < file_.questions.size(); ++i) {
    std::vector<int32_t> query;
    pieces_.append_ids(file_.questions[i].question, query);
    query.resize(std::min(query.size(), static_cast<size_t>(spec.text.query)));
    queries_.push_back(std::move(query));
  }
  std::vector<size_t> without_room;
  for (size_t i = 0; i < queries_.size(); ++i) {
    if (static_cast<size_t>(spec.text.length) > queries_[i].size() + 3)
      add_windows(i, spec.text);
    else
      without_room.push_back(i);
  }
  leave_out(without_room, spec);
}

void SquadSet::leave_out(const std::vector<size_t>& without_room, const SourceSpec& spec) {
  if (without_room.empty()) return;
  const size_t first = without_room.front(), more = without_room.size() - 1;
  const std::string reason = cat("question '", file_.questions[first].id, "' of ", queries_[first].size(),
                                 " tokens leaves no room for its context in ", spec.text.length);
  require(!spec.text.strict && !windows_.empty(), spec.path, ": ", reason);
  const std::string others = more == 0 ? "" : cat(", and ", more, more == 1 ? " question more" : " questions more");
  file_.notes.push_back({spec.path, reason + others});
}

void SquadSet::add_windows(size_t question, const TextSpec& spec) {
  const SquadQuestion& asked = file_.questions[question];
  const std::vector<Piece>& pieces = contexts_[asked.context].pieces;
  const auto length = static_cast<size_t>(spec.length), query = queries_[question].size();
  const SquadAnswer& answer = asked.answers.front();
  const auto first = std::ranges::partition_point(pieces, [&](const Piece& p) { return p.end <= answer.begin; });
  const auto past = std::ranges::partition_point(pieces, [&](const Piece& p) { return p.begin < answer.end; });
  const auto begin = static_cast<size_t>(first - pieces.begin()), end = static_cast<size_t>(past - pieces.begin());
  const size_t room = length - query - 3;
  for (size_t start = 0;;) {
    SquadWindow window{.question = question, .first = start, .count = std::min(room, pieces.size() - start)};
    if (begin < end && begin >= start && end <= start + window.count) {
      window.start = context_place(window) + static_cast<int32_t>(begin - start);
      window.end = context_place(window) + static_cast<int32_t>(end - 1 - start);
    }
    windows_.push_back(window);
    if (start + window.count >= pieces.size()) return;
    start += std::min(window.count, static_cast<size_t>(spec.stride));
  }
}

std::span<const int32_t> SquadSet::part(const SquadWindow& window) const {
  return std::span(contexts_[file_.questions[window.question].context].ids).subspan(window.first, window.count);
}

int32_t SquadSet::context_place(const SquadWindow& window) const {
  return static_cast<int32_t>(queries_[window.question].size()) + 2;
}

std::string_view SquadSet::answer(const SquadWindow& window, int64_t start, int64_t end) const {
  const int64_t place = context_place(window), count = static_cast<int64_t>(window.count);
  if (start < place || end < start || end >= place + count) return {};
  const size_t context = file_.questions[window.question].context;
  const auto piece = [&](int64_t at) {
    return contexts_[context].pieces[window.first + static_cast<size_t>(at - place)];
  };
  const uint32_t begin = piece(start).begin;
  return std::string_view(file_.contexts[context]).substr(begin, piece(end).end - begin);
}

bool SquadSet::is_best_context(size_t window, int64_t place) const {
  const SquadWindow& own = windows_.at(window);
  const int64_t offset = place - context_place(own);
  if (offset < 0 || offset >= static_cast<int64_t>(own.count)) return false;
  const size_t token = own.first + static_cast<size_t>(offset);
  size_t begin = window, end = window + 1;
  while (begin > 0 && windows_[begin - 1].question == own.question) --begin;
  while (end < windows_.size() && windows_[end].question == own.question) ++end;
  const double score = context_score(own, token);
  for (size_t i = begin; i < end; ++i) {
    if (i == window || !holds(windows_[i], token)) continue;
    const double other = context_score(windows_[i], token);
    if (other > score || (other == score && i < window)) return false;
  }
  return true;
}

SquadSet open_squad_set(const SourceSpec& spec) {
  SquadFile file = read_squad(find_squad_file(spec), spec.text.strict);
  WordPiece pieces = wordpiece_of(spec, [&](WordCounts& counts) {
    SourceSpec training = spec;
    training.split = Split::train;
    const SquadFile words = spec.split == Split::train ? file : read_squad(find_squad_file(training), spec.text.strict);
    for (const std::string& context : words.contexts) count_basic_tokens(context, counts);
    for (const SquadQuestion& question : words.questions) count_basic_tokens(question.question, counts);
  });
  return SquadSet(spec, std::move(file), std::move(pieces));
}

BatchLayout squad_layout(const TextSpec& spec, int64_t samples) {
  BatchLayout layout{.samples = samples, .tensors = segment_layout(spec.length)};
  layout.tensors.push_back({"start", DType::i32, {}});
  layout.tensors.push_back({"end", DType::i32, {}});
  return layout;
}

std::unique_ptr<Samples> squad_samples(const SourceSpec& spec) { return std::make_unique<SquadSamples>(spec); }

}  // namespace tbd
