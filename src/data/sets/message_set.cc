#include "data/sets/message_set.h"

#include <unordered_set>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "data/sets/catalogue.h"
#include "data/sets/message_text.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

bool is_catalogue(const fs::path& path) {
  return path.extension() == ".mo" && path.parent_path().filename() == "LC_MESSAGES";
}

struct MessageSide {
  std::string source, target;
  int64_t pairs = 0;
};

class Pairs {
 public:
  explicit Pairs(const MessageSetOptions& options) : options_(options) {}

  // Adds the pairs of a catalogue that have not come before; how many.
  int64_t add(const std::vector<Message>& messages) {
    const int64_t before = train.pairs + val.pairs;
    for (const Message& message : messages) add(message);
    return train.pairs + val.pairs - before;
  }

  MessageSide train, val;

 private:
  void add(Message message) {
    drop_shortcuts(message.text, message.translation);
    const TokenisedMessage source = tokenised_message(message.text), target = tokenised_message(message.translation);
    const bool useful = source.words >= options_.least_words && target.words > 0 && source.text != target.text;
    if (!useful || !known_.insert(source.text + '\n' + target.text).second) return;
    MessageSide& side = share_of(source.text) < options_.val_share ? val : train;
    side.source += source.text + "\n";
    side.target += target.text + "\n";
    ++side.pairs;
  }

  const MessageSetOptions& options_;
  std::unordered_set<std::string> known_;
};

void write_side(const fs::path& folder, const std::string& stem, const std::string& language, const MessageSide& side) {
  write_file(folder / (stem + ".en"), side.source);
  write_file(folder / (stem + "." + language), side.target);
}

}  // namespace

MessageSetSummary make_message_set(const fs::path& source_dir, const fs::path& out_dir,
                                   const MessageSetOptions& options) {
  require(!options.language.empty() && options.language != "en",
          "messages are translated from English to another language");
  MadeSet made(out_dir);
  MessageSetSummary summary;
  Pairs pairs(options);
  Json sources = Json::array();
  for (const std::string& file : files_below(source_dir, is_catalogue)) {
    if (fs::path(file).parent_path().parent_path().filename() != options.language) continue;
    try {
      Json origin = origin_json(file);
      origin["pairs"] = pairs.add(read_catalogue(source_dir / file));
      sources.push_back(std::move(origin));
    } catch (const Error& e) {
      summary.left_out.push_back({file, e.what()});
    }
  }
  summary.train_pairs = pairs.train.pairs;
  summary.val_pairs = pairs.val.pairs;
  require(summary.train_pairs > 0 && summary.val_pairs > 0, source_dir.string(), " gives ", summary.train_pairs,
          " pairs of sentences for training and ", summary.val_pairs, " for validation, from ", sources.size(),
          " catalogues ", options.language, "/LC_MESSAGES/*.mo");
  write_side(made.folder(), "train", options.language, pairs.train);
  write_side(made.folder(), "val", options.language, pairs.val);
  summary.set = made.finish("messages", {{"languages", {"en", options.language}},
                                         {"train_pairs", summary.train_pairs},
                                         {"val_pairs", summary.val_pairs},
                                         {"val_share", options.val_share},
                                         {"least_words", options.least_words},
                                         {"sources", sources},
                                         {"left_out", left_out_json(summary.left_out)}});
  return summary;
}

}  // namespace tbd
