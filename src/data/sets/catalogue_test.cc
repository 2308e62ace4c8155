#include "data/sets/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "data/sets/testing_catalogue.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
using testing_catalogue::catalogue_bytes;
using testing_catalogue::kUtf8Header;
using testing_text::refusal_of;
using namespace std::string_literals;

class Catalogue : public testing::Test {
 protected:
  std::vector<Message> read(const std::string& bytes) const {
    write_file(path(), bytes);
    return read_catalogue(path());
  }
  std::string refusal(const std::string& bytes) const {
    const std::string said = refusal_of([&] { read(bytes); });
    EXPECT_TRUE(said.starts_with(path().string() + ": ")) << said;
    return said.substr(std::min(said.size(), path().string().size() + 2));
  }

 private:
  std::filesystem::path path() const { return folder_.path() / "de.mo"; }
  TemporaryFolder folder_;
};

TEST_F(Catalogue, ReadsBothByteOrders) {
  for (const bool big_endian : {false, true}) {
    const auto messages = read(catalogue_bytes({kUtf8Header, {"No space", "Kein Platz"}, {"x", "Größe"}}, big_endian));
    ASSERT_EQ(messages.size(), 2);
    EXPECT_EQ(messages[0].text, "No space");
    EXPECT_EQ(messages[0].translation, "Kein Platz");
    EXPECT_EQ(messages[1].translation, "Größe");
  }
}

TEST_F(Catalogue, DropsContextsAndTakesTheFirstOfPlurals) {
  const auto messages =
      read(catalogue_bytes({kUtf8Header, {"menu\x04One file\0%d files"s, "Eine Datei\0%d Dateien"s}, {"left", ""}}));
  ASSERT_EQ(messages.size(), 1);  // the untranslated one is no message
  EXPECT_EQ(messages[0].text, "One file");
  EXPECT_EQ(messages[0].translation, "Eine Datei");
}

TEST_F(Catalogue, NamesWhatIsWrongWithAFile) {
  const std::string good = catalogue_bytes({kUtf8Header, {"No space", "Kein Platz"}});
  EXPECT_EQ(refusal("text"), "4 bytes, fewer than a catalogue's header");
  EXPECT_EQ(refusal("x" + good), "not a message catalogue: its first bytes are not 0x950412de in any order");
  EXPECT_EQ(refusal(good.substr(0, good.size() - 3)), "message 2 ends at byte 134, outside the file's 132");
  EXPECT_EQ(refusal(good.substr(0, 40)), "the table of texts ends at byte 44, outside the file's 40");
  EXPECT_EQ(refusal(catalogue_bytes({{"", "Content-Type: text/plain; charset=ISO-8859-1\n"}})),
            "its charset is iso-8859-1, not UTF-8");
  EXPECT_EQ(refusal(catalogue_bytes({{"", "Language: de\n"}})), "its header names no charset");
  EXPECT_EQ(refusal(catalogue_bytes({{"a", "b"}})), "it has no header, which names the charset");
  EXPECT_EQ(refusal(catalogue_bytes({kUtf8Header, {"size", "Gr\xf6\xdf\x65"}})), "message 2 is not UTF-8");
}

}  // namespace
}  // namespace tbd
