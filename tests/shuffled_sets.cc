#include "shuffled_sets.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
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
void shuffle(std::vector<T>& items, uint64_t seed = 1) {
  const Philox draw(seed, "test/shuffled");
  for (size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[static_cast<size_t>(draw.uniform(i) * static_cast<double>(i))]);
}

// Each line keeps its number of words.
std::string with_shuffled_words(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> words;
  for (const std::string& line : split(text.substr(0, text.size() - 1), '\n')) {
    lines.push_back(split(line, ' '));
    words.insert(words.end(), lines.back().begin(), lines.back().end());
  }
  shuffle(words);
  std::string out;
  auto next = words.begin();
  for (const auto& line : lines) {
    const auto end = next + std::ssize(line);
    out += join(std::vector<std::string>(next, end), " ") + "\n";
    next = end;
  }
  return out;
}

// Of lines "ID TEXT" the texts, in groups of sixteen by length.
std::string with_shuffled_texts(const std::string& list) {
  constexpr size_t kGroup = 16;
  std::vector<std::pair<std::string, std::string>> lines;
  for (const std::string& line : split(trim(list), '\n')) {
    const size_t space = line.find(' ');
    lines.emplace_back(line.substr(0, space), line.substr(space));
  }
  std::ranges::stable_sort(lines, {}, [](const auto& line) { return line.second.size(); });
  std::string out;
  for (size_t begin = 0; begin < lines.size(); begin += kGroup) {
    const std::span group(lines.begin() + static_cast<std::ptrdiff_t>(begin), std::min(kGroup, lines.size() - begin));
    std::vector<std::string> texts;
    for (const auto& line : group) texts.push_back(line.second);
    shuffle(texts, begin);
    for (size_t i = 0; i < group.size(); ++i) out += group[i].first + texts[i] + "\n";
  }
  return out;
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
      write_file(to / file.filename(), with_shuffled_words(read_file(file)));
  }
}

void shuffle_letters(const fs::path& from, const fs::path& to) {
  make_folder(to);
  std::string text = read_file(from / "train.txt");
  std::vector<size_t> places;  // of ASCII: other characters stay whole
  std::vector<char> letters;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\n' && static_cast<unsigned char>(text[i]) < 128) {
      places.push_back(i);
      letters.push_back(text[i]);
    }
  shuffle(letters);
  for (size_t i = 0; i < places.size(); ++i) text[places[i]] = letters[i];
  write_file(to / "train.txt", text);
}

void shuffle_transcripts(const fs::path& from, const fs::path& to) {
  for (const auto& entry : fs::recursive_directory_iterator(from / "train")) {
    if (!entry.is_regular_file()) continue;
    const fs::path copy = to / fs::relative(entry.path(), from);
    make_folder(copy.parent_path());
    if (entry.path().extension() == ".txt")
      write_file(copy, with_shuffled_texts(read_file(entry.path())));
    else
      fs::create_symlink(fs::canonical(entry.path()), copy);
  }
}

}  // namespace tbd
