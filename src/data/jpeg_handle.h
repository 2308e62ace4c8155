// libjpeg's decompressor with its errors and warnings turned into Error. For jpeg_decoder.cc.
#pragma once
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <span>

// jpeglib.h needs size_t and FILE first.
#include <jpeglib.h>

#include "base/error.h"

namespace tbd {

class JpegHandle {
 public:
  JpegHandle();
  ~JpegHandle() { jpeg_destroy_decompress(&info_); }
  JpegHandle(const JpegHandle&) = delete;
  JpegHandle& operator=(const JpegHandle&) = delete;

  jpeg_decompress_struct& info() { return info_; }
  // Runs `call` (calls of libjpeg alone, no objects with destructors: an error jumps out of it), then throws
  // Error(invalid) if libjpeg failed or found the data corrupt.
  template <class Call>
  void guarded(const Call& call) {
    if (setjmp(errors_.jump) == 0) call();
    if (errors_.bad) throw_error();
  }
  // Drops the current image, whatever became of it.
  void abort();
  void restart(std::span<const std::byte> jpeg);

 private:
  struct Errors {
    jpeg_error_mgr base;  // first: libjpeg hands it back as a pointer to this
    std::jmp_buf jump;
    bool bad;
    char message[JMSG_LENGTH_MAX];
  };
  static void on_error(j_common_ptr info);
  static void on_message(j_common_ptr info, int level);
  [[noreturn]] void throw_error();

  jpeg_decompress_struct info_{};
  Errors errors_{};
};

}  // namespace tbd
