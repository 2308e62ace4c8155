#include "data/folder_listing.h"
#include "data/text/batch_order.h"
#include "data/text/squad.h"

namespace tbd {
namespace {

class SquadSamples final : public Samples {
 public:
  explicit SquadSamples(const SourceSpec& spec)
      : spec_(spec),
        set_(open_squad_set(spec)),
        order_(spec, std::vector<uint16_t>(set_.windows().size()), {spec.batch}) {}

  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t step) const override { return squad_layout(spec_.text, order_.batch(step).samples); }
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
    const SquadWindow& window = set.windows()[samples_.order_.position(step, slot)];
    const WordPiece& pieces = set.pieces();
    write_segments({.pad = pieces.pad(), .cls = pieces.cls(), .sep = pieces.sep()}, set.query(window), set.part(window),
                   row);
    row.ints("start")[0] = window.start;
    row.ints("end")[0] = window.end;
  }

 private:
  const SquadSamples& samples_;
};

std::unique_ptr<SampleMaker> SquadSamples::maker() const { return std::make_unique<Maker>(*this); }

}  // namespace

BatchLayout squad_layout(const TextSpec& spec, int64_t samples) {
  BatchLayout layout{.samples = samples, .tensors = segment_layout(spec.length)};
  layout.tensors.push_back({"start", DType::i32, {}});
  layout.tensors.push_back({"end", DType::i32, {}});
  return layout;
}

std::unique_ptr<Samples> squad_samples(const SourceSpec& spec) { return std::make_unique<SquadSamples>(spec); }

}  // namespace tbd
