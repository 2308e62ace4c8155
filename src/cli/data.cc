// tbd data: data sets made from what packages ship.
#include <ostream>

#include "base/json.h"
#include "cli/commands.h"
#include "data/photo_set.h"

namespace tbd::cli {
namespace {

class Data final : public Command {
 public:
  std::string name() const override { return "data"; }
  std::string summary() const override { return "Make the small photograph data set from unpacked packages"; }

  void declare(CLI::App& app) override {
    app.add_option("WHAT", what_, "photos: class = source picture, samples = crops, in ImageNet's layout")->required();
    app.add_option("--source", source_, "Folder of unpacked packages, or any tree of .jpg files")->required();
    app.add_option("--out", out_, "Folder to make; it must not exist or be empty")->required();
    output_.declare(app);
  }

  int run(Context& context) override {
    if (what_ != "photos")
      fail(ErrorKind::usage, unknown_name("data set to make", what_, std::vector<std::string>{"photos"}));
    const PhotoSetSummary made = make_photo_set(source_, out_);
    if (output_.is_json())
      context.out << Json{{"classes", made.classes},
                          {"files", made.files},
                          {"bytes", made.bytes},
                          {"content_sha256", made.content_sha256}}
                         .dump()
                  << "\n";
    else
      context.out << made.files << " images of " << made.classes << " classes, " << format_bytes(made.bytes)
                  << ", content " << made.content_sha256.substr(0, 16) << "\n";
    return kDone;
  }

 private:
  std::string what_, source_, out_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_data() { return std::make_unique<Data>(); }

}  // namespace tbd::cli
