// tbd data: the data sets of the models, a check of a folder, and small real sets made from what packages ship.
#include "base/json.h"
#include "cli/commands.h"
#include "cli/data_parts.h"
#include "data/folder_listing.h"
#include "models/model.h"

namespace tbd::cli {
namespace {

class Data final : public Command {
 public:
  std::string name() const override { return "data"; }
  std::string summary() const override {
    return "List data sets, check a folder, or make small real data sets from packages";
  }

  void declare(Options& options) override {
    options.positional(
        "WHAT", words_,
        "'check KIND FOLDER' reads every file of a folder; 'photos', 'prompts', 'games', 'crops' or 'stamps' makes "
        "this small set [list the data sets]");
    options.option("--source", make_.source, "Make: read unpacked packages from this folder");
    options.option("--out", make_.out, "Make: write to this folder, which must be absent or empty");
    options.option("--language", language_,
                   "Check: second language of parallel text, beside English [from data.json, or vi]");
    options.option("--games", make_.games, "Make games: number of games that GNU Go plays", {.show_default = true});
    options.option("--seed", make_.seed, "Make games: random seed", {.show_default = true});
    options.option("--board", make_.board,
                   "Games: rows and columns of the board [make: 9; check: as in the first game]");
    options.option("--model", model_, "Check: read text as this model does (ids, buckets, vocabularies)");
    options.option("--config", config_, "Check: configuration of that model", {.show_default = true});
    options.option("--vocabulary", text_.vocabulary, "Check: number of token ids that the network accepts [no limit]");
    options.option("--length", length_, "Check: tokens per sequence [128; squad 384, packed_text 512]");
    options.option("--classes", classes_, "Check: number of classes of the network [1000; coco 90]");
    options.option(
        "--size", make_.size,
        "Width and height of unlabelled images in pixels [make: 64; check: from the folder]; make stamps: of "
        "the pictures [640x480]");
    options.option("--images", make_.images, "Make stamps: number of training images; validation has a fifth as many",
                   {.show_default = true});
    options.option("--sides", make_.sides,
                   "Make stamps: longer sides of objects in pixels, as in 24-100 [24 to half the width]");
    options.option("--objects", make_.objects, "Make stamps: objects of a picture at most", {.show_default = true});
    options.option("--categories", make_.categories, "Make stamps: the first so many of 18 categories [all]");
    options.flag("--strict", text_.strict, "Check: fail on samples that would be left out");
    output_.declare(options);
  }

  int run(Context& context) override {
    output_.table_format();  // refuses a bad --format before any work
    if (words_.empty()) {
      list_data_sets(context, output_);
      return kDone;
    }
    if (words_[0] == "check") return check_data_set(context, output_, spec());
    if (words_.size() > 1) fail(ErrorKind::usage, "data ", words_[0], ": unexpected argument '", words_[1], "'");
    make_.what = words_[0];
    make_data_set(context, output_, make_);
    return kDone;
  }

 private:
  SourceSpec spec() const {
    if (words_.size() != 3) fail(ErrorKind::usage, "data check takes KIND and FOLDER; 'tbd data' lists the kinds");
    SourceSpec spec = source_spec_from(Json{{"kind", words_[1]}},
                                       {.path = words_[2], .classes = classes_.value_or(1000), .board = make_.board});
    if (spec.kind == SourceKind::unlabelled_images)
      spec.image_size = make_.size.empty() ? only_image_size(spec.path) : square_side(make_.size);
    if (spec.kind == SourceKind::coco) spec.detection.slots = classes_.value_or(90) + 1;
    const std::string text = model_.empty() ? "" : find_model(model_).config(config_).text;
    if (!text.empty()) spec.text = text_conventions(text);
    spec.text.strict = text_.strict;
    spec.text.vocabulary = spec.text.target_vocabulary = text_.vocabulary;
    if (!language_.empty()) spec.text.languages = {"en", language_};
    const bool squad = spec.kind == SourceKind::squad, packed = spec.kind == SourceKind::packed_text;
    spec.text.length = length_ > 0 ? length_ : squad ? 384 : packed ? 512 : 128;
    return spec;
  }

  std::vector<std::string> words_;
  MakeRequest make_;
  std::string model_, config_ = "canonical", language_;
  TextSpec text_;
  int64_t length_ = 0;
  std::optional<int64_t> classes_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_data() { return std::make_unique<Data>(); }

}  // namespace tbd::cli
