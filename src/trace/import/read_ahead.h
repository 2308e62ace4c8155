// Reads a source on a thread of its own, one block ahead, so that unpacking and parsing go on side by side.
#pragma once
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "trace/import/source.h"

namespace tbd {

class ReadAhead final : public ByteSource {
 public:
  explicit ReadAhead(std::unique_ptr<ByteSource> in);
  ~ReadAhead() override;  // stops the thread after its block
  size_t read(char* to, size_t size) override;
  std::string damage() const override;  // empty until the end was read

 private:
  void run();

  std::unique_ptr<ByteSource> in_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string ready_, taken_;  // the block that is full, the one that is being handed out
  size_t at_ = 0;              // in taken_
  bool is_ready_ = false, ended_ = false, stop_ = false;
  std::exception_ptr error_;
  std::string damage_;
  std::thread thread_;
};

}  // namespace tbd
