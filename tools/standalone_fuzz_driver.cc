// Runs a fuzz target where libFuzzer is absent: replays every seed, then mutations of them for a number of seconds.
// Usage as libFuzzer's: fuzz_record [-max_total_time=SECONDS] [-seed=N] CORPUS_FOLDER...
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Input = std::vector<uint8_t>;

Input read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Input> read_seeds(const std::filesystem::path& path) {
  std::vector<Input> seeds;
  if (std::filesystem::is_regular_file(path)) seeds.push_back(read(path));
  if (std::filesystem::is_directory(path))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.is_regular_file()) seeds.push_back(read(entry.path()));
  return seeds;
}

class Mutator {
 public:
  Mutator(std::vector<Input> seeds, uint64_t seed) : seeds_(std::move(seeds)), random_(seed) {}

  Input next() {
    Input input = seeds_[below(seeds_.size())];
    for (size_t changes = 1 + below(8); changes > 0; --changes) change(input);
    return input;
  }

 private:
  size_t below(size_t end) { return end == 0 ? 0 : random_() % end; }

  void change(Input& input) {
    const size_t at = below(input.size());
    switch (below(6)) {
      case 0:
        flip(input, at);
        break;
      case 1:
        input.insert(input.begin() + at, static_cast<uint8_t>(random_()));
        break;
      case 2:
        input.resize(at);
        break;
      case 3:
        input.erase(input.begin() + at, input.begin() + at + below(input.size() - at));
        break;
      case 4:
        splice(input, at);
        break;
      default:
        extreme(input, at);
        break;
    }
  }

  void flip(Input& input, size_t at) {
    if (!input.empty()) input[at] ^= static_cast<uint8_t>(1U << below(8));
  }

  void splice(Input& input, size_t at) {
    const Input& other = seeds_[below(seeds_.size())];
    const size_t from = below(other.size());
    const size_t length = below(other.size() - from);
    const Input part(other.begin() + from, other.begin() + from + length);
    input.insert(input.begin() + at, part.begin(), part.end());
  }

  // Lengths and counts at their ends: all bits set, or none.
  void extreme(Input& input, size_t at) {
    const uint8_t value = below(2) == 0 ? 0x00 : 0xff;
    for (size_t i = at; i < input.size() && i < at + 8; ++i) input[i] = value;
  }

  std::vector<Input> seeds_;
  std::mt19937_64 random_;
};

// Leaves the input that is about to run behind, so that a crash can be replayed.
void save(const std::string& path, const Input& input) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(input.data()), std::ssize(input));
}

}  // namespace

int main(int count, char** words) {
  std::vector<Input> seeds = {{}};
  double seconds = 5;
  uint64_t seed = 1;
  for (const std::string& word : std::vector<std::string>(words + 1, words + count)) {
    if (word.starts_with("-max_total_time=")) seconds = std::stod(word.substr(16));
    if (word.starts_with("-seed=")) seed = std::stoull(word.substr(6));
    if (!word.starts_with("-"))
      for (Input& input : read_seeds(word)) seeds.push_back(std::move(input));
  }
  for (const Input& input : seeds) LLVMFuzzerTestOneInput(input.data(), input.size());

  Mutator mutator(seeds, seed);
  const std::string last = std::filesystem::path(words[0]).filename().string() + ".last";
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  size_t runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    const Input input = mutator.next();
    save(last, input);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::filesystem::remove(last);
  std::cerr << seeds.size() - 1 << " seeds and " << runs << " mutations passed\n";
  return EXIT_SUCCESS;
}
