#include "data/jpeg_handle.h"

#include <jerror.h>

namespace tbd {
namespace {

// Oddities of files that decode completely.
bool harmless(int code) {
  return code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM || code == JWRN_BOGUS_ICC;
}

}  // namespace

JpegHandle::JpegHandle() {
  info_.err = jpeg_std_error(&errors_.base);
  errors_.base.error_exit = on_error;
  errors_.base.emit_message = on_message;
  guarded([this] { jpeg_create_decompress(&info_); });
}

void JpegHandle::on_error(j_common_ptr info) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  if (!errors->bad) info->err->format_message(info, errors->message);
  errors->bad = true;
  std::longjmp(errors->jump, 1);
}

void JpegHandle::on_message(j_common_ptr info, int level) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  if (level >= 0 || errors->bad || harmless(info->err->msg_code)) return;
  info->err->format_message(info, errors->message);
  errors->bad = true;
}

void JpegHandle::throw_error() {
  abort();
  fail(ErrorKind::invalid, errors_.message);
}

void JpegHandle::abort() {
  errors_.bad = false;
  jpeg_abort_decompress(&info_);
}

void JpegHandle::restart(std::span<const std::byte> jpeg) {
  abort();
  guarded([&] {
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
    jpeg_read_header(&info_, TRUE);
  });
}

}  // namespace tbd
