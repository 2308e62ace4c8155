#include "data/data_check.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "data/detection/coco_pictures.h"
#include "data/detection/picture_plan.h"
#include "data/folder_listing.h"
#include "data/go/game_files.h"
#include "data/image_file.h"
#include "data/jpeg_decoder.h"
#include "data/sets/made_set.h"
#include "data/text/packed.h"
#include "data/text/parallel_text.h"
#include "data/text/pretraining.h"
#include "data/text/squad.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

std::optional<double> added(std::optional<double> sum, const TensorMap& batch, const char* count) {
  const auto found = batch.find(count);
  return found == batch.end() ? sum : std::optional(sum.value_or(0) + found->second.as<double>()[0]);
}

CheckedSplit walked(const SourceSpec& spec) {
  const auto source = open_source(spec);
  CheckedSplit out{.split = spec.split};
  const int64_t steps = source->steps_per_epoch().value_or(0);
  for (int64_t step = 1; step <= steps; ++step) {
    TensorMap batch = source->next(step);
    out.tokens = added(out.tokens, batch, "count/tokens");
    out.slots = added(out.slots, batch, "count/slots");
    out.seconds = added(out.seconds, batch, "count/seconds");
    out.second_slots = added(out.second_slots, batch, "count/second_slots");
    source->recycle(std::move(batch));
  }
  out.samples = steps;  // of one sample each
  out.left_out = source->statistics().bad_files;
  out.notes = source->statistics().notes;
  return out;
}

// Counts a file that `decode` takes, lists another.
template <class Decode>
void take_image(const std::string& name, CheckedSplit& split, const Decode& decode) {
  try {
    decode();
    ++split.samples;
  } catch (const Error& e) {
    split.left_out.push_back({name, e.what()});
  }
}

CheckedSplit decoded(const SourceSpec& spec, CheckedData& data) {
  open_source(spec);  // refuses what cannot be used at all
  const FolderListing listing = list_image_folder(spec.path, spec.split);
  data.classes = std::max(data.classes.value_or(0), static_cast<int64_t>(listing.classes.size()));
  CheckedSplit out{.split = spec.split};
  JpegDecoder decoder;
  for (const ListedFile& file : listing.files)
    take_image(file.path, out, [&] {
      const std::string bytes = read_file(listing.root / file.path);
      decoder.image(decoder.open(std::as_bytes(std::span(bytes))));
    });
  out.faulty = !out.left_out.empty();
  return out;
}

CheckedSplit decoded_unlabelled(const SourceSpec& spec) {
  const UnlabelledListing listing = list_unlabelled_images(spec.path, spec.split, spec.image_size);
  CheckedSplit out{.split = spec.split};
  for (const std::string& file : listing.files)
    take_image((listing.root.filename() / file).string(), out,
               [&] { read_square_image(listing.root / file, spec.image_size); });
  out.faulty = !out.left_out.empty();
  return out;
}

// What the usual input of two stages, a landscape, leaves out; empty where all fit.
std::string portraits_note(const CocoPictures& pictures, const DetectionSpec& spec) {
  int64_t portraits = 0;
  for (size_t i = 0; i < pictures.size(); ++i) portraits += !fits_canvas(pictures.image(i).size, spec);
  if (portraits == 0) return "";
  return cat(grouped(portraits), portraits == 1 ? " image does" : " images do", " not fit ", spec.height, " x ",
             spec.width, ", the input of networks of two stages, which leave out such");
}

// Reading the annotations has checked them all.
CheckedSplit annotated(SourceSpec spec, CheckedData& data) {
  spec.detection.task = DetectionTask::one_stage;  // whose canvas all pictures fit
  const CocoPictures pictures(spec, false);
  data.classes = std::max(data.classes.value_or(0), static_cast<int64_t>(pictures.file().categories().size()));
  CheckedSplit out{.split = spec.split, .objects = pictures.counts().objects, .notes = pictures.notes()};
  out.notes.insert(out.notes.begin(), objects_note(pictures.counts(), static_cast<int64_t>(pictures.size())));
  if (const std::string portraits = portraits_note(pictures, spec.detection); !portraits.empty())
    out.notes.push_back(portraits);
  for (size_t i = 0; i < pictures.size(); ++i)
    take_image(pictures.image(i).file_name, out, [&] { read_coco_image(spec, pictures.image(i)); });
  out.faulty = !out.left_out.empty();
  return out;
}

// Reading the games has replayed them all.
CheckedSplit replayed(SourceSpec& spec) {
  const GameFiles files = read_game_files(spec);
  spec.board = files.board;  // the other split is of the same board
  CheckedSplit out{.split = spec.split, .left_out = files.faulty, .faulty = !files.faulty.empty()};
  for (const LearntGame& game : files.games) out.samples += static_cast<int64_t>(game.moves.size());
  out.left_out.insert(out.left_out.end(), files.skipped.begin(), files.skipped.end());
  return out;
}

void add_vocabulary(const SourceSpec& spec, CheckedData& data) {
  LineNotes notes(false);
  switch (spec.kind) {
    case SourceKind::parallel_text: {
      const Vocabularies both = read_vocabularies(spec, notes);
      data.vocabulary = both.source.size();
      if (!spec.text.shared_vocabulary) data.target_vocabulary = both.target.size();
      return;
    }
    case SourceKind::pretraining_text:
      data.vocabulary = pretraining_vocabulary(spec).size();
      return;
    case SourceKind::squad:
      data.vocabulary = open_squad_set(spec).pieces().size();
      return;
    case SourceKind::packed_text:
      data.vocabulary = packed_tokenizer(spec).size();
      return;
    default:
      return;
  }
}

bool has_split(const SourceSpec& spec) {
  std::error_code ignored;
  if (spec.kind == SourceKind::coco)
    return is_file(coco_annotations(spec.path, spec.split)) ||
           (spec.split == Split::train && !is_file(coco_annotations(spec.path, Split::val)));
  const fs::path root = spec.path;
  const bool train = fs::is_directory(root / "train", ignored), val = fs::is_directory(root / "val", ignored);
  return spec.split == Split::train ? train || !val : val;
}

void add_split(SourceSpec& spec, CheckedData& data) {
  if (spec.kind == SourceKind::sgf) {
    if (has_split(spec)) data.splits.push_back(replayed(spec));
    return;
  }
  if (spec.kind == SourceKind::coco) {
    if (has_split(spec)) data.splits.push_back(annotated(spec, data));
    return;
  }
  if (spec.kind == SourceKind::image_folder) {
    if (has_split(spec)) data.splits.push_back(decoded(spec, data));
    return;
  }
  try {
    data.splits.push_back(spec.kind == SourceKind::unlabelled_images ? decoded_unlabelled(spec) : walked(spec));
  } catch (const Error& e) {  // a data set may come without validation samples
    if (e.kind() != ErrorKind::not_found || spec.split == Split::train) throw;
  }
}

}  // namespace

CheckedData check_data(const SourceSpec& given) {
  require(given.kind != SourceKind::synthetic, "synthetic data has no files to check");
  SourceSpec spec = given;
  spec.batch = 1;
  spec.threads = 2;
  spec.prefetch = 64;
  spec.text.duplicates = 1;
  spec.text.target_slots = 0;
  CheckedData data;
  for (const Split split : {Split::train, Split::val}) {
    spec.split = split;
    add_split(spec, data);
  }
  spec.split = Split::train;
  add_vocabulary(spec, data);
  data.recorded_hash = recorded_hash(spec.path);
  data.as_recorded = data.recorded_hash && *data.recorded_hash == content_hash(spec.path);
  return data;
}

}  // namespace tbd
