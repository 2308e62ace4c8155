// Small trees of speech for tests: tones with transcripts.
#pragma once
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "data/audio_file.h"

namespace tbd::testing_speech {

// `samples` of a tone at `rate`, which depends on `hertz`.
inline std::vector<float> tone(int64_t samples, double hertz = 440, int64_t rate = 16000) {
  std::vector<float> out(static_cast<size_t>(samples));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(0.4 * std::sin(2 * M_PI * hertz * static_cast<double>(i) / static_cast<double>(rate)));
  return out;
}

struct Said {
  int64_t frames;  // of the spectrogram
  std::string text;
};

// root/<split>/1/2/1-2-0000.flac ... and 1-2.trans.txt.
inline void write_libri(const std::filesystem::path& root, const std::string& split, const std::vector<Said>& said,
                        const std::string& ending = ".flac") {
  const std::filesystem::path folder = root / split / "1" / "2";
  make_folder(folder);
  std::string lines;
  for (size_t i = 0; i < said.size(); ++i) {
    const std::string id = cat("1-2-000", i);
    write_audio(folder / (id + ending), tone((said[i].frames - 1) * 160, 300 + 100 * static_cast<double>(i)), 16000);
    lines += cat(id, " ", said[i].text, "\n");
  }
  write_file(folder / "1-2.trans.txt", lines);
}

}  // namespace tbd::testing_speech
