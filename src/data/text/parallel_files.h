// Where the files of a parallel data set lie.
#pragma once
#include <filesystem>
#include <string>

#include "data/source.h"

namespace tbd {

struct ParallelFiles {
  std::filesystem::path source, target;
};
// path/<stem>.<language> for both languages. The stem is that of the spec, else the first of the usual ones that has a
// file: of training train, train.tok.clean.bpe.32000, train.tok.clean; of validation val, valid, dev, tst2012,
// newstest2013.tok.bpe.32000, newstest2013.tok. Throws Error(not_found) naming what was looked
// for, Error(invalid) for a file without its partner.
ParallelFiles find_parallel_files(const SourceSpec& spec);
ParallelFiles find_training_files(const SourceSpec& spec);  // those of training, from which vocabularies are counted

// The vocabulary of `language`: path/vocab.<language>; for a shared one path/vocab.bpe.32000 or path/vocab.txt. With
// spec.text.vocabulary_file: that file, ".<language>" added where it is not shared. Empty where there is none; throws
// Error(not_found) for a named file that is missing.
std::filesystem::path find_vocabulary_file(const SourceSpec& spec, const std::string& language);

}  // namespace tbd
