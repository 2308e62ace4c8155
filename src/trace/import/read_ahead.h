// Reads a source on a thread of its own, some blocks ahead, so that unpacking and parsing go on side by side.
#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

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
  bool hand_over(std::string& block);  // and takes an empty one; false when nobody wants more

  std::unique_ptr<ByteSource> in_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> ready_;   // blocks that are full, the first one next
  std::vector<std::string> empty_;  // to be used again
  std::string taken_;               // the block that is being handed out
  size_t at_ = 0;                   // in taken_
  bool ended_ = false, stop_ = false;
  std::exception_ptr error_;
  std::string damage_;
  std::thread thread_;
};

}  // namespace tbd
