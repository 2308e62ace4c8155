// For tests of importers: packed text, and what an import found wrong.
#pragma once
#include <zlib.h>

#include <string>
#include <string_view>

#include "base/json_window.h"
#include "trace/import/kineto.h"
#include "trace/trace.h"

namespace tbd::testing_import {

inline Trace kineto(std::string_view json) {
  Trace trace;
  import_kineto(*memory_source(json), trace);
  return trace;
}

// The first fault whose sentence holds `what`; nullptr without one.
inline const Fault* fault(const Trace& trace, std::string_view what) {
  for (const Fault& fault : trace.faults())
    if (fault.what.find(what) != std::string::npos) return &fault;
  return nullptr;
}

inline std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace tbd::testing_import
