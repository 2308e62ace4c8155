#include "data/audio_file.h"

#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

struct Closer {
  void operator()(SNDFILE* file) const { ::sf_close(file); }
};
using Handle = std::unique_ptr<SNDFILE, Closer>;

// The file's size. libsndfile would say no more of a folder or a missing file than that it cannot be opened.
int64_t readable_size(const fs::path& file) {
  std::error_code code;
  if (!fs::exists(file, code)) fail(ErrorKind::not_found, file.string(), ": no such file");
  if (!fs::is_regular_file(file, code) || !std::ifstream(file, std::ios::binary))
    fail(ErrorKind::io, file.string(), ": cannot be read");
  return static_cast<int64_t>(fs::file_size(file));
}

uint32_t little_endian(const char* bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Bytes that a WAV's data chunk promises beyond the end of the file: libsndfile takes what is there without a word. A
// writer that could not seek back leaves 0xffffffff for "unknown".
int64_t missing_bytes(const fs::path& file, int64_t size) {
  constexpr uint32_t kUnknown = 0xffffffff;
  std::ifstream in(file, std::ios::binary);
  char head[12];
  if (!in.read(head, sizeof head) || std::string_view(head, 4) != "RIFF") return 0;
  char chunk[8];
  for (int64_t at = sizeof head; in.seekg(at) && in.read(chunk, sizeof chunk);) {
    const uint32_t bytes = little_endian(chunk + 4);
    const int64_t end = at + static_cast<int64_t>(sizeof chunk) + bytes;
    if (std::string_view(chunk, 4) == "data") return bytes == kUnknown || end <= size ? 0 : end - size;
    at = end + (bytes & 1);
  }
  return 0;
}

bool is_offered(int format) {
  const int form = format & SF_FORMAT_TYPEMASK;
  return form == SF_FORMAT_WAV || form == SF_FORMAT_WAVEX || form == SF_FORMAT_FLAC;
}

struct Opened {
  Handle handle;
  AudioInfo info;
};

Opened open(const fs::path& file) {
  const int64_t size = readable_size(file);
  require(size > 0, file.string(), ": an empty file");
  SF_INFO info{};
  Handle handle(::sf_open(file.c_str(), SFM_READ, &info));
  if (!handle && ::sf_error(nullptr) == SF_ERR_UNRECOGNISED_FORMAT)
    fail(ErrorKind::invalid, file.string(), ": neither WAV nor FLAC");
  if (!handle) fail(ErrorKind::invalid, file.string(), ": cannot be decoded; libsndfile: ", ::sf_strerror(nullptr));
  require(is_offered(info.format), file.string(), ": neither WAV nor FLAC");
  const int64_t missing = missing_bytes(file, size);
  require(missing == 0, file.string(), ": cut off, ", missing, " bytes of its recording are missing");
  require(info.frames > 0, file.string(), ": a recording without samples");
  constexpr int64_t kMost = int64_t{1} << 32;  // 74 hours at 16 kHz
  require(info.frames < kMost, file.string(), ": the header does not say how long the recording is");
  return {std::move(handle), {info.frames, info.samplerate, info.channels}};
}

std::vector<float> averaged(std::vector<float> interleaved, int64_t channels) {
  if (channels == 1) return interleaved;
  const auto each = static_cast<size_t>(channels);
  std::vector<float> mono(interleaved.size() / each);
  for (size_t i = 0; i < mono.size(); ++i) {
    float sum = 0;
    for (size_t c = 0; c < each; ++c) sum += interleaved[i * each + c];
    mono[i] = sum / static_cast<float>(each);
  }
  return mono;
}

// libsndfile would write floats in steps of 1/32767, but reads those of 1/32768.
std::vector<short> in_steps(std::span<const float> values) {
  std::vector<short> steps;
  for (const float value : values)
    steps.push_back(static_cast<short>(std::lrint(std::clamp(value * 32768.f, -32768.f, 32767.f))));
  return steps;
}

}  // namespace

AudioInfo audio_info(const fs::path& file) { return open(file).info; }

Audio read_audio(const fs::path& file) {
  const Opened opened = open(file);
  const AudioInfo& info = opened.info;
  std::vector<float> interleaved(static_cast<size_t>(info.samples * info.channels));
  const int64_t read = ::sf_readf_float(opened.handle.get(), interleaved.data(), info.samples);
  if (::sf_error(opened.handle.get()) != SF_ERR_NO_ERROR)
    fail(ErrorKind::invalid, file.string(), ": cannot be decoded; libsndfile: ", ::sf_strerror(opened.handle.get()));
  require(read == info.samples, file.string(), ": cut off, ", read, " of ", info.samples, " samples can be read");
  for (const float value : interleaved)
    require(std::isfinite(value), file.string(), ": a sample is not a finite number");
  return {averaged(std::move(interleaved), info.channels), info.rate};
}

void write_audio(const fs::path& file, std::span<const float> interleaved, int64_t rate, int64_t channels) {
  const int form = file.extension() == ".flac" ? SF_FORMAT_FLAC : SF_FORMAT_WAV;
  SF_INFO info{
      .samplerate = static_cast<int>(rate), .channels = static_cast<int>(channels), .format = form | SF_FORMAT_PCM_16};
  const Handle handle(::sf_open(file.c_str(), SFM_WRITE, &info));
  if (!handle) fail(ErrorKind::io, "cannot write ", file.string(), ": ", ::sf_strerror(nullptr));
  const std::vector<short> steps = in_steps(interleaved);
  const auto count = static_cast<sf_count_t>(steps.size()) / channels;
  if (::sf_writef_short(handle.get(), steps.data(), count) != count)
    fail(ErrorKind::io, "cannot write ", file.string(), ": ", ::sf_strerror(handle.get()));
}

}  // namespace tbd
