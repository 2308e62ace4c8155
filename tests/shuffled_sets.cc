#include "shuffled_sets.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"
#include "base/text.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

// Fisher and Yates 1938.
template <class T>
void shuffle(std::vector<T>& items) {
  const Philox draw(1, "test/shuffled");
  for (size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[static_cast<size_t>(draw.uniform(i) * static_cast<double>(i))]);
}

void shuffle_words_of(const fs::path& from, const fs::path& to) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> words;
  for (const std::string& line : split(read_file(from), '\n')) {
    lines.push_back(line.empty() ? std::vector<std::string>{} : split(line, ' '));
    words.insert(words.end(), lines.back().begin(), lines.back().end());
  }
  shuffle(words);
  std::string text;
  size_t next = 0;
  for (const auto& line : lines) {
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(next);
    next += line.size();
    text += join(std::vector<std::string>(first, words.begin() + static_cast<std::ptrdiff_t>(next)), " ") + "\n";
  }
  write_file(to, text);
}

}  // namespace

void link_classes(const fs::path& from, const fs::path& to, size_t classes) {
  for (const char* part : {"train", "val"}) {
    make_folder(to / part);
    std::vector<fs::path> all = sorted_entries(from / part);
    require(all.size() >= classes, from.string(), " has ", all.size(), " classes, not ", classes);
    all.resize(classes);
    for (const fs::path& one : all) fs::create_directory_symlink(one, to / part / one.filename());
  }
}

void shuffle_classes(const fs::path& from, const fs::path& to) {
  std::vector<fs::path> classes = sorted_entries(from / "train"), files;
  for (const fs::path& one : classes)
    for (const fs::path& file : sorted_entries(one)) files.push_back(file);
  shuffle(files);
  for (size_t i = 0; i < files.size(); ++i) {
    const fs::path folder = to / "train" / classes[i % classes.size()].filename();
    make_folder(folder);
    fs::create_symlink(fs::canonical(files[i]), folder / cat(i, ".JPEG"));
  }
}

void shuffle_target_words(const fs::path& from, const fs::path& to) {
  make_folder(to);
  for (const fs::path& file : sorted_entries(from)) {
    if (file.stem() != "train") continue;
    if (file.extension() == ".en")
      fs::copy_file(file, to / file.filename());
    else
      shuffle_words_of(file, to / file.filename());
  }
}

void shuffle_words(const fs::path& from, const fs::path& to) {
  make_folder(to);
  shuffle_words_of(from / "train.txt", to / "train.txt");
}

void shuffle_answers(const fs::path& from, const fs::path& to) {
  make_folder(to);
  const Philox draw(1, "test/answers");
  uint64_t drawn = 0;
  Json book = parse_json(read_file(from / "train-v1.1.json"), "train-v1.1.json");
  for (Json& article : book["data"])
    for (Json& paragraph : article["paragraphs"]) {
      const std::string context = paragraph["context"];
      std::vector<size_t> begins;  // of words whose bytes before them are all ASCII: characters are bytes there
      for (size_t i = 0; i + 1 < context.size() && static_cast<unsigned char>(context[i]) < 128; ++i)
        if (i == 0 || context[i - 1] == ' ') begins.push_back(i);
      for (Json& question : paragraph["qas"])
        for (Json& answer : question["answers"]) {
          const size_t pick = static_cast<size_t>(draw.uniform(drawn++) * static_cast<double>(begins.size()));
          const size_t begin = begins.at(pick);
          answer["answer_start"] = begin;
          answer["text"] = context.substr(begin, context.find(' ', begin) - begin);
        }
    }
  write_file(to / "train-v1.1.json", book.dump());
}

}  // namespace tbd
