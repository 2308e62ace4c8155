// SQuAD v1.1: questions on paragraphs, with answers that are spans of them.
// Rajpurkar et al. 2016, arXiv:1606.05250; the published layout data[].paragraphs[].{context,qas[].{id,question,
// answers[].{text,answer_start}}}.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/source.h"

namespace tbd {

struct SquadAnswer {
  std::string text;
  size_t begin = 0, end = 0;  // bytes of the context; answer_start counts characters
};
struct SquadQuestion {
  std::string id, question;
  size_t context = 0;
  std::vector<SquadAnswer> answers;
};
struct SquadFile {
  std::vector<std::string> contexts;
  std::vector<SquadQuestion> questions;
  std::vector<BadFile> notes;  // answers whose text is not what stands at their place, left out; by line
};
// Throws Error(invalid) naming file and line for text that is not JSON (cut off, for example) or not UTF-8, an empty
// context or question, and an answer that ends outside its context; naming the element (data[0].paragraphs[2]) for one
// that lacks a part; when strict, too, for what would be noted. Throws as read_file.
SquadFile read_squad(const std::filesystem::path& path, bool strict);

// path itself where it is a file; of training path/train-v1.1.json or path/train.json, of validation
// path/dev-v1.1.json, path/val.json or path/dev.json. Throws Error(not_found).
std::filesystem::path find_squad_file(const SourceSpec& spec);

}  // namespace tbd
