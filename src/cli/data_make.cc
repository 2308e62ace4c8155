#include <ostream>

#include "base/json.h"
#include "cli/data_parts.h"
#include "data/sets/crop_set.h"
#include "data/sets/game_set.h"
#include "data/sets/photo_set.h"
#include "data/sets/prompt_set.h"

namespace tbd::cli {
namespace {

struct Made {
  std::string counts;  // for people
  Json json;
  SetSummary set;
  std::vector<BadFile> left_out;
};

Made photos(const MakeRequest& request) {
  const PhotoSetSummary made = make_photo_set(request.source, request.out);
  return {.counts = cat(made.files, " images of ", made.classes, " classes"),
          .json = {{"classes", made.classes}},
          .set = {made.files, made.bytes, made.content_sha256}};
}

Made crops(const MakeRequest& request) {
  const CropSetSummary made = make_crop_set(request.source, request.out, {.size = request.size.value_or(64)});
  return {.counts = cat(grouped(made.train), " training and ", grouped(made.val), " validation images from ",
                        made.pictures, " pictures"),
          .json = {{"pictures", made.pictures}, {"train_images", made.train}, {"val_images", made.val}},
          .set = made.set};
}

Made prompts(const MakeRequest& request) {
  const PromptSetSummary made = make_prompt_set(request.source, request.out);
  const auto counts = [](const SpokenCounts& spoken) {
    return cat(grouped(spoken.utterances), " utterances of ", format_seconds(spoken.seconds));
  };
  return {.counts = cat(counts(made.train), " for training, ", counts(made.val), " for validation, ",
                        counts(made.held_out), " held out"),
          .json = {{"train_utterances", made.train.utterances},
                   {"train_seconds", made.train.seconds},
                   {"val_utterances", made.val.utterances},
                   {"val_seconds", made.val.seconds},
                   {"held_out_utterances", made.held_out.utterances},
                   {"held_out_seconds", made.held_out.seconds}},
          .set = made.set,
          .left_out = made.left_out};
}

Made games(const MakeRequest& request) {
  require(request.seed >= 0, "the seed must not be negative, got ", request.seed);
  const GameSetSummary made = make_game_set(request.out, {.games = request.games,
                                                          .board = request.board == 0 ? 9 : request.board,
                                                          .seed = static_cast<uint64_t>(request.seed)});
  return {.counts = cat(grouped(made.train_games), " games for training, ", grouped(made.val_games),
                        " for validation, ", grouped(made.moves), " moves"),
          .json = {{"train_games", made.train_games}, {"val_games", made.val_games}, {"moves", made.moves}},
          .set = made.set,
          .left_out = {}};
}

struct Maker {
  std::string name;
  Made (*make)(const MakeRequest&);
  bool from_packages = true;
};

const Maker& maker_of(const std::string& what) {
  static const std::vector<Maker> makers = {
      {"photos", photos}, {"prompts", prompts}, {"games", games, false}, {"crops", crops}};
  std::vector<std::string> names = {"check"};
  for (const Maker& maker : makers) {
    if (maker.name == what) return maker;
    names.push_back(maker.name);
  }
  fail(ErrorKind::usage, unknown_name("data command", what, names));
}

}  // namespace

void make_data_set(Context& context, const OutputOptions& output, const MakeRequest& request) {
  const Maker& maker = maker_of(request.what);
  if (request.out.empty() || (maker.from_packages && request.source.empty()))
    fail(ErrorKind::usage, "data ", request.what, " needs ", maker.from_packages ? "--source DIR and " : "",
         "--out DIR");
  const Made made = maker.make(request);
  if (!output.quiet)
    for (const BadFile& file : made.left_out) context.err << "left out: " << file.path << ": " << file.reason << "\n";
  Json json = made.json;
  json.update({{"files", made.set.files}, {"bytes", made.set.bytes}, {"content_sha256", made.set.content_sha256}});
  if (output.is_json())
    context.out << json.dump() << "\n";
  else
    context.out << made.counts << ", " << format_bytes(made.set.bytes) << ", content "
                << made.set.content_sha256.substr(0, 16) << "\n";
}

}  // namespace tbd::cli
