// One process at a time writes into a result set. The lock is flock(2) on SET/.lock: the kernel gives it back however
// its holder ends, so a killed run leaves no lock to judge by a process number that another may have by now, and
// workers, which do not inherit it, cannot keep it. What the file says only names the holder. On a file system without
// such locks nothing is locked.
#pragma once
#include <filesystem>
#include <vector>

namespace tbd {

class SetLock {
 public:
  // Makes the folder where there is none. Throws Error(usage) that names the process that writes into the set,
  // Error(io) when the folder cannot be written.
  explicit SetLock(const std::filesystem::path& set);
  // A folder of its own: `wanted`, or "wanted-2", "wanted-3", ..., the first that is not there.
  static SetLock of_new_folder(const std::filesystem::path& wanted);
  ~SetLock();  // folders that it made go, too, where nothing was put into them
  SetLock(const SetLock&) = delete;
  SetLock& operator=(const SetLock&) = delete;

  const std::filesystem::path& set() const { return set_; }

 private:
  SetLock(std::filesystem::path set, std::vector<std::filesystem::path> made);
  void give_back();

  std::filesystem::path set_;
  std::vector<std::filesystem::path> made_;  // innermost first
  int file_ = -1;
};

}  // namespace tbd
