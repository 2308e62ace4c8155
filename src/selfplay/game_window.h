// The games of a training by self-play on the disk: those that are learnt from, and those of before.
#pragma once
#include <filesystem>
#include <string>

namespace tbd {

// RECORD/games/train/generation-N.sgf, of the last `window` generations, and RECORD/games/past.
class GameWindow {
 public:
  GameWindow(const std::filesystem::path& record, int64_t window);

  const std::filesystem::path& folder() const { return folder_; }  // the data set: RECORD/games
  // After generation `last`: its games are `sgf`.
  void add(int64_t last, const std::string& sgf) const;
  // As it is after generation `last`: later games are removed.
  void arrange(int64_t last) const;

 private:
  std::filesystem::path file(const char* part, int64_t generation) const;

  std::filesystem::path folder_;
  int64_t window_;
};

// "generation-003"
std::string generation_name(int64_t generation);

}  // namespace tbd
