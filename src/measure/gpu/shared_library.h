// A library that is opened at run time, because a machine may lack it.
#pragma once
#include <string>

namespace tbd {

// Opened when made. It stays open: a driver's library keeps threads and devices that closing would pull away.
class SharedLibrary {
 public:
  explicit SharedLibrary(std::string name);

  // Why it is not open, one clause; empty where it is.
  const std::string& reason() const { return reason_; }
  // nullptr where it has no function of that name.
  template <class Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(symbol(name));
  }
  const std::string& name() const { return name_; }

 private:
  void* symbol(const char* name) const;

  std::string name_, reason_;
  void* handle_;
};

}  // namespace tbd
