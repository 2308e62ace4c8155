// tbd explain: what a name in a row or report means, and how one record's number came about.
#include <ostream>

#include "analysis/explain/page.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/commands.h"
#include "record/reader.h"

namespace tbd::cli {
namespace {

class Explain final : public Command {
 public:
  std::string name() const override { return "explain"; }
  std::string summary() const override {
    return "Explain a metric, flag, outcome or grade, and how a record's number was computed";
  }

  void declare(Options& options) override {
    options.positional("NAME", name_, "Metric, flag, outcome, grade or figure [list all names]");
    options.positional("RECORD", record_,
                       "Record folder or @latest: show the values from which its number was computed");
    options.flag("--all", all_, "Explain every name");
    options.option("--format", format_, "table, md, csv or json", {.show_default = true});
    options.flag("--json", json_, "Same as --format json");
  }

  int run(Context& context) override {
    const Format format = json_ ? Format::json : format_from(format_);
    if (all_) {
      context.out << everything(format);
      return kDone;
    }
    if (name_.empty()) {
      context.out << (format == Format::json ? everything(format) : topic_list());
      return kDone;
    }
    const FoundTopic found = topic(name_);
    if (record_.empty()) {
      context.out << alone(found, format);
      return kDone;
    }
    const std::vector<std::filesystem::path> folders = find_records(record_);
    for (size_t i = 0; i < folders.size(); ++i) {
      if (i > 0 && format != Format::json) context.out << "\n";
      context.out << with_record(found, folders[i], format, context.width);
    }
    return kDone;
  }

 private:
  static std::string line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

  static std::string everything(Format format) {
    if (format == Format::markdown) return topics_markdown();
    std::string out;
    for (const TopicGroup& group : topic_groups())
      for (const Topic& topic : group.topics) out += alone({&topic, &group}, format);
    return out;
  }

  static std::string alone(const FoundTopic& found, Format format) {
    return format == Format::json ? line(to_json(found)) : explanation(found);
  }

  static std::string with_record(const FoundTopic& found, const std::filesystem::path& folder, Format format,
                                 size_t width) {
    const Record record = read_record(folder);
    const std::vector<Fact> facts = walk(found, record);
    if (format == Format::json) {
      Json object = to_json(found);
      object["record"] = folder.string();
      object["record_hash"] = record.hash;
      object["facts"] = to_json(facts);
      return line(object);
    }
    if (format == Format::csv) return print(fact_table(facts), format);
    return cat(explanation(found), "\n", folder.string(), ", ", record.hash.substr(0, 12), "\n\n",
               print(fact_table(facts), format, width));
  }

  std::string name_, record_, format_ = "table";
  bool all_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_explain() { return std::make_unique<Explain>(); }

}  // namespace tbd::cli
