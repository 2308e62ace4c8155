#include "measure/gpu/shared_library.h"

#include <dlfcn.h>

#include "base/text.h"

namespace tbd {

SharedLibrary::SharedLibrary(std::string name)
    : name_(std::move(name)), handle_(dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_) return;
  reason_ = dlerror();
  if (reason_.find("No such file") != std::string::npos) reason_ = cat(name_, " is not there");
}

void* SharedLibrary::symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace tbd
