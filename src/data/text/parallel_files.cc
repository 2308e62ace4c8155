#include "data/text/parallel_files.h"

#include "base/error.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

const std::vector<std::string>& usual_stems(Split split) {
  static const std::vector<std::string> train = {"train", "train.tok.clean.bpe.32000", "train.tok.clean"};
  static const std::vector<std::string> val = {
      "val", "valid", "dev", "tst2012", "newstest2013.tok.bpe.32000", "newstest2013.tok"};
  return split == Split::train ? train : val;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

ParallelFiles files_of(const SourceSpec& spec, const std::vector<std::string>& stems) {
  const fs::path root = spec.path;
  const std::string &source = spec.text.languages.at(0), &target = spec.text.languages.at(1);
  for (const std::string& stem : stems) {
    const ParallelFiles files{root / (stem + "." + source), root / (stem + "." + target)};
    const bool has_source = is_there(files.source), has_target = is_there(files.target);
    if (has_source && has_target) return files;
    if (has_source || has_target)
      fail(ErrorKind::invalid, (has_source ? files.source : files.target).string(), " has no counterpart ",
           (has_source ? files.target : files.source).string());
  }
  std::string looked_for;
  for (const std::string& stem : stems) looked_for += cat(looked_for.empty() ? "" : ", ", stem, ".", source);
  fail(ErrorKind::not_found, root.string(), " has no ", spec.split == Split::train ? "training" : "validation",
       " text; looked for ", looked_for);
}

}  // namespace

ParallelFiles find_parallel_files(const SourceSpec& spec) {
  if (!spec.text.stem.empty()) return files_of(spec, {spec.text.stem});
  return files_of(spec, usual_stems(spec.split));
}

ParallelFiles find_training_files(const SourceSpec& spec) {
  if (spec.split == Split::train) return find_parallel_files(spec);
  SourceSpec training = spec;
  training.split = Split::train;
  return files_of(training, usual_stems(Split::train));
}

fs::path find_vocabulary_file(const SourceSpec& spec, const std::string& language) {
  const fs::path root = spec.path;
  const bool shared = spec.text.shared_vocabulary;
  if (const std::string& name = spec.text.vocabulary_file; !name.empty()) {
    const fs::path file = root / (shared ? name : name + "." + language);
    if (!is_there(file)) fail(ErrorKind::not_found, "the vocabulary ", file.string(), " does not exist");
    return file;
  }
  std::vector<fs::path> usual = {root / ("vocab." + language)};
  if (shared) usual = {root / "vocab.bpe.32000", root / "vocab.txt"};
  for (const fs::path& file : usual)
    if (is_there(file)) return file;
  return {};
}

}  // namespace tbd
