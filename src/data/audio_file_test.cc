#include "data/audio_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>

#include <cmath>

#include "base/files.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing_text::refusal_of;

std::vector<float> sine_wave(size_t samples, double period) {
  std::vector<float> out(samples);
  for (size_t i = 0; i < samples; ++i)
    out[i] = static_cast<float>(0.5 * std::sin(2 * M_PI * static_cast<double>(i) / period));
  return out;
}

class AudioFile : public testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  std::string refusal(const std::string& name) const {
    return refusal_of([&] { read_audio(path(name)); });
  }
  void cut(const std::string& name, size_t bytes) const {
    write_file(path(name), read_file(path(name)).substr(0, bytes));
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(AudioFile, WavAndFlacRoundTripWithinHalfAQuantizationStep) {
  const std::vector<float> written = sine_wave(1000, 37);
  for (const char* name : {"a.wav", "a.flac"}) {
    write_audio(path(name), written, 16000);
    const Audio audio = read_audio(path(name));
    EXPECT_EQ(audio.rate, 16000) << name;
    ASSERT_EQ(audio.samples.size(), written.size()) << name;
    for (size_t i = 0; i < written.size(); ++i) ASSERT_NEAR(audio.samples[i], written[i], 0.51 / 32768) << name << i;
  }
}

TEST_F(AudioFile, TheHeaderAloneTellsTheLength) {
  write_audio(path("a.flac"), sine_wave(600, 7), 8000, 2);
  const AudioInfo info = audio_info(path("a.flac"));
  EXPECT_EQ(info.samples, 300);
  EXPECT_EQ(info.rate, 8000);
  EXPECT_EQ(info.channels, 2);
}

TEST_F(AudioFile, ChannelsAreAveraged) {
  write_audio(path("a.wav"), std::vector<float>{0.5f, -0.25f, 0.25f, 0.25f}, 16000, 2);
  EXPECT_THAT(read_audio(path("a.wav")).samples, testing::ElementsAre(0.125f, 0.25f));
}

TEST_F(AudioFile, LoudSamplesAreClippedAndNotWrapped) {
  write_audio(path("a.wav"), std::vector<float>{1.5f, -1.5f}, 16000);
  EXPECT_THAT(read_audio(path("a.wav")).samples, testing::ElementsAre(32767 / 32768.f, -1.f));
}

TEST_F(AudioFile, RefusesFilesThatAreNotAudioByName) {
  write_file(path("empty.wav"), "");
  write_file(path("text.wav"), "no sound in here, whatever its name says");
  write_file(path("junk.flac"), "fLaC" + std::string(300, '\1'));
  make_folder(path("folder.wav"));
  EXPECT_THAT(refusal("none.flac"), HasSubstr("none.flac: no such file"));
  EXPECT_THAT(refusal("empty.wav"), HasSubstr("empty.wav: an empty file"));
  EXPECT_THAT(refusal("text.wav"), HasSubstr("text.wav: neither WAV nor FLAC"));
  EXPECT_THAT(refusal("junk.flac"), HasSubstr("junk.flac: cannot be decoded; libsndfile: "));
  EXPECT_THAT(refusal("folder.wav"), HasSubstr("folder.wav: cannot be read"));
}

TEST_F(AudioFile, RefusesFormsThatLibsndfileReadsButWeDoNotOffer) {
  SF_INFO info{.samplerate = 8000, .channels = 1, .format = SF_FORMAT_AIFF | SF_FORMAT_PCM_16};
  SNDFILE* file = ::sf_open(path("a.wav").c_str(), SFM_WRITE, &info);
  ASSERT_NE(file, nullptr);
  ::sf_close(file);
  EXPECT_THAT(refusal("a.wav"), HasSubstr("a.wav: neither WAV nor FLAC"));
}

TEST_F(AudioFile, RefusesARecordingWithoutSamples) {
  write_audio(path("a.wav"), {}, 16000);
  EXPECT_THAT(refusal("a.wav"), HasSubstr("a.wav: a recording without samples"));
}

TEST_F(AudioFile, RefusesACutRecordingAtAnyPlace) {
  for (const std::string name : {"a.wav", "a.flac"}) {
    write_audio(path(name), sine_wave(20000, 91), 16000);
    const size_t whole = read_file(path(name)).size();
    for (const size_t left : {whole - 1, whole - 50, whole / 2, size_t{60}, size_t{20}, size_t{3}}) {
      write_audio(path(name), sine_wave(20000, 91), 16000);
      cut(name, left);
      EXPECT_THAT(refusal(name), HasSubstr(name + ": ")) << name << " " << left;
    }
  }
  write_audio(path("b.wav"), sine_wave(1000, 91), 16000);
  cut("b.wav", 44 + 500);
  EXPECT_THAT(refusal("b.wav"), HasSubstr("b.wav: cut off, 1500 bytes of its recording are missing"));
}

TEST_F(AudioFile, ReadsToTheEndOfFileWhenTheHeaderOmitsTheLength) {
  write_audio(path("a.wav"), sine_wave(1000, 91), 16000);
  std::string bytes = read_file(path("a.wav"));
  const size_t size = bytes.find("data") + 4;
  bytes.replace(size, 4, "\xff\xff\xff\xff");
  write_file(path("a.wav"), bytes);
  EXPECT_EQ(read_audio(path("a.wav")).samples.size(), 1000);
}

TEST_F(AudioFile, RefusesNonFiniteSamples) {
  SF_INFO info{.samplerate = 8000, .channels = 1, .format = SF_FORMAT_WAV | SF_FORMAT_FLOAT};
  SNDFILE* file = ::sf_open(path("a.wav").c_str(), SFM_WRITE, &info);
  ASSERT_NE(file, nullptr);
  const float values[] = {0.f, NAN};
  ::sf_writef_float(file, values, 2);
  ::sf_close(file);
  EXPECT_THAT(refusal("a.wav"), HasSubstr("a.wav: a sample is not a finite number"));
}

}  // namespace
}  // namespace tbd
