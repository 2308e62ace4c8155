#include <algorithm>
#include <ostream>

#include "base/json.h"
#include "cli/data_parts.h"
#include "data/sets/crop_set.h"
#include "data/sets/game_set.h"
#include "data/sets/photo_set.h"
#include "data/sets/prompt_set.h"
#include "data/sets/stamp_set.h"
#include "data/sets/stamp_source.h"
#include "measure/cores.h"

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
  const CropSetSummary made =
      make_crop_set(request.source, request.out, {.size = request.size.empty() ? 64 : square_side(request.size)});
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
                                                          .seed = static_cast<uint64_t>(request.seed),
                                                          .at_once = std::max(1, static_cast<int>(usable_cores()))});
  return {.counts = cat(grouped(made.train_games), " games for training, ", grouped(made.val_games),
                        " for validation, ", grouped(made.moves), " moves"),
          .json = {{"train_games", made.train_games}, {"val_games", made.val_games}, {"moves", made.moves}},
          .set = made.set,
          .left_out = {}};
}

ImageSize size_of_pictures(const std::string& size) {
  if (size.empty()) return StampSetOptions().size;
  const size_t x = size.find('x');
  const auto width = parse_int(size.substr(0, x));
  const auto height = x == std::string::npos ? std::nullopt : parse_int(size.substr(x + 1));
  if (!width || !height) fail(ErrorKind::usage, "--size of stamps is WIDTHxHEIGHT, got '", size, "'");
  return {.width = *width, .height = *height};
}

Json counts_of(const StampSplit& split) {
  return {{"images", split.images},         {"objects", split.objects.objects}, {"small", split.objects.small},
          {"medium", split.objects.medium}, {"large", split.objects.large},     {"truncated", split.truncated},
          {"crowds", split.crowds}};
}
std::string words_for(const StampSplit& split) {
  const ObjectCounts& objects = split.objects;
  const double truncated =
      static_cast<double>(split.truncated) / static_cast<double>(std::max<int64_t>(1, objects.objects));
  return cat(grouped(split.images), " images with ", objects_note(objects, split.images), "; ",
             format_percent(truncated), " cut by the border; ", split.crowds, " crowds");
}

// "24-320": the shortest and the longest.
void read_sides(const std::string& text, StampSetOptions& options) {
  if (text.empty()) return;
  const size_t dash = text.find('-');
  options.least = parse_int(text.substr(0, dash)).value_or(0);
  options.most = dash == text.npos ? 0 : parse_int(text.substr(dash + 1)).value_or(0);
  if (options.least < 1 || options.most < options.least)
    fail(ErrorKind::usage, "--sides needs two whole numbers as in 24-320, got '", text, "'");
}

Made stamps(const MakeRequest& request) {
  StampSetOptions options = {.images = request.images,
                             .size = size_of_pictures(request.size),
                             .categories = request.categories == 0 ? stamp_category_count() : request.categories,
                             .objects = request.objects};
  read_sides(request.sides, options);
  const StampSetSummary made = make_stamp_set(request.source, request.out, options);
  return {.counts = cat("training: ", words_for(made.train), "\nvalidation: ", words_for(made.val), "\n", made.stamps,
                        " stamps of ", made.categories, " categories"),
          .json = {{"categories", made.categories},
                   {"stamps", made.stamps},
                   {"train", counts_of(made.train)},
                   {"val", counts_of(made.val)}},
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
      {"photos", photos}, {"prompts", prompts}, {"games", games, false}, {"crops", crops}, {"stamps", stamps}};
  std::vector<std::string> names = {"check"};
  for (const Maker& maker : makers) {
    if (maker.name == what) return maker;
    names.push_back(maker.name);
  }
  fail(ErrorKind::usage, unknown_name("data command", what, names));
}

}  // namespace

int64_t square_side(const std::string& size) {
  const std::optional<int64_t> side = parse_int(size);
  if (!side) fail(ErrorKind::usage, "--size takes a number of pixels, got '", size, "'");
  return *side;
}

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
