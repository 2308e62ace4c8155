#include "data/data_check.h"

#include <ostream>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "cli/data_parts.h"

namespace tbd::cli {
namespace {

// Parallel text says in data.json which languages it has.
void take_recorded_languages(SourceSpec& spec) {
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::path(spec.path) / "data.json";
  if (!std::filesystem::is_regular_file(file, ignored)) return;
  const auto languages = maybe<std::vector<std::string>>(parse_json(read_file(file), file.string()), "languages");
  if (languages && languages->size() == 2) spec.text.languages = *languages;
}

Table checked_table(const CheckedData& data) {
  Table table{.title = "Checked",
              .columns = {{"split", "split"},
                          {"samples", "samples", Unit::count},
                          {"tokens", "tokens", Unit::count},
                          {"slots", "token slots", Unit::count},
                          {"seconds", "audio", Unit::seconds},
                          {"second_slots", "with padding", Unit::seconds},
                          {"objects", "objects", Unit::count},
                          {"left_out", "left out, by reason", Unit::count},
                          {"vocabulary", "vocabulary", Unit::count},
                          {"target_vocabulary", "of targets", Unit::count},
                          {"classes", "classes", Unit::count},
                          {"content_sha256", "content"},
                          {"as_recorded", "as recorded"}},
              .rows = {},
              .notes = {}};
  for (const CheckedSplit& split : data.splits) {
    table.rows.push_back({std::string(split.split == Split::train ? "train" : "val"), split.samples, cell(split.tokens),
                          cell(split.slots), cell(split.seconds), cell(split.second_slots), cell(split.objects),
                          static_cast<int64_t>(split.left_out.size()), cell(data.vocabulary),
                          cell(data.target_vocabulary), cell(data.classes), cell(data.recorded_hash),
                          data.recorded_hash ? TableCell(data.as_recorded) : TableCell()});
    for (const BadFile& line : split.left_out) table.notes.push_back(cat("left out: ", line.path, ": ", line.reason));
    for (const std::string& note : split.notes) table.notes.push_back(note);
  }
  return table;
}

}  // namespace

int check_data_set(Context& context, const OutputOptions& output, const SourceSpec& given) try {
  SourceSpec spec = given;
  if (spec.kind == SourceKind::parallel_text && spec.text.languages == TextSpec().languages)
    take_recorded_languages(spec);
  const CheckedData data = check_data(spec);
  const Table table = checked_table(data);
  const Format format = output.table_format();
  context.out << print(table, format, context.width);
  const bool for_machines = format == Format::json || format == Format::csv;
  for (const std::string& note : table.notes)
    if (for_machines && !output.quiet) context.err << note << "\n";
  for (const CheckedSplit& split : data.splits)
    if (split.faulty) return kVerdictFailed;
  return kDone;
} catch (const Error& e) {
  if (e.kind() != ErrorKind::invalid) throw;
  context.err << "tbd: error: " << e.what() << "\n";
  return kVerdictFailed;
}

}  // namespace tbd::cli
