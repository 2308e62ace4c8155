// MLX's exceptions become the project's: out of memory is std::bad_alloc, all else Error with one sentence.
#pragma once
#include <string>

#include "worker/translated.h"

namespace tbd::mlx {

// `where`: "in phase 'train'"; asked for only when something went wrong.
template <class Work, class Where>
auto located(Work&& work, const Where& where) {
  return translated(work, [&](const std::exception& e) {
    const std::string text = e.what();
    if (text.find("Unable to allocate") != std::string::npos) throw std::bad_alloc();
    fail(ErrorKind::internal, "mlx: ", where(), text.substr(0, text.find('\n')));
  });
}

template <class Work>
auto guarded(Work&& work) {
  return located(work, [] { return ""; });
}

}  // namespace tbd::mlx
