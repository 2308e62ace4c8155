// tbd compare: is B faster than A, workload by workload, and does it do the same work?
#include <algorithm>
#include <ostream>

#include "analysis/compare/comparison_tables.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/compared_files.h"

namespace tbd::cli {

namespace {

class Compare final : public Command {
 public:
  std::string name() const override { return "compare"; }
  std::string summary() const override {
    return "Say whether B is faster than A, workload by workload, with intervals and exact counters";
  }

  void declare(Options& options) override {
    options.positional("A", a_, "What was before: a record, a result set, a baseline's file, @latest",
                       {.required = true});
    options.positional("B", b_, "What is now: the same", {.required = true});
    options.option("--across", options_.across,
                   "Fields in which partners may differ, such as mode or framework; machine: other hardware",
                   {.separator = ','});
    options.option("--margin", margin_, "Differences below it do not matter", {.show_default = true});
    options.option("--difference", difference_, "Say how many launches would find one of this size",
                   {.show_default = true});
    options.option("--fail-on", fail_on_, cat("End with code 1 at one of: ", join(failing_names(), ", ")),
                   {.separator = ','});
    options.option("--junit", junit_, "Also write JUnit XML there");
    output_.declare(options);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    options_.margin = fraction_from(margin_, "--margin");
    options_.change = fraction_from(difference_, "--difference");
    if (options_.change <= options_.margin)
      fail(ErrorKind::usage, "--difference needs more than the margin of ", margin_, ", got ", difference_);
    for (const std::string& each : fail_on_) any_has({}, each);  // the name is known
    const std::vector<MeasuredRow> a = compared_rows(context, a_, output_.quiet),
                                   b = compared_rows(context, b_, output_.quiet);
    const RowComparison comparison = compare_rows(a, b, options_);
    if (comparison.pairs.empty()) return refuse(context, comparison);
    print_sentences(context, comparison_sentences(comparison), format);
    print_tables(context, tables_of(comparison, format), format);
    if (!junit_.empty()) write_file_atomic(junit_, junit_xml(comparison, fail_on_));
    for (const std::string& each : fail_on_)
      if (any_has(comparison, each)) {
        if (!output_.quiet) context.err << "tbd: compare: " << each << " came out, as --fail-on names it\n";
        return kVerdictFailed;
      }
    return kDone;
  }

 private:
  // For machines one table; of the others those that say something.
  static std::vector<Table> tables_of(const RowComparison& comparison, Format format) {
    if (format == Format::csv || format == Format::json) return {verdict_table(comparison)};
    std::vector<Table> tables = {verdict_table(comparison), counter_table(comparison), unpaired_table(comparison),
                                 difference_table(comparison)};
    std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
    return tables;
  }

  static int refuse(Context& context, const RowComparison& comparison) {
    context.err << "tbd: compare: A and B have no workload in common\n";
    for (const Unpaired& each : comparison.unpaired)
      if (each.of_a) context.err << "  " << each.row->label() << ": " << each.reason << "\n";
    context.err << "  --across FIELD lets partners differ in it\n";
    return kBadUsage;
  }

  std::string a_, b_, margin_ = "2%", difference_ = "5%", junit_;
  std::vector<std::string> fail_on_;
  CompareOptions options_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_compare() { return std::make_unique<Compare>(); }

}  // namespace tbd::cli
