#include "analysis/then/then_and_now.h"
#include "base/text.h"

namespace tbd {
namespace {

std::string printed_text(double value, const PrintedValue& printed) {
  if (printed.unit == Unit::bytes && printed.unit_text == "/s") return cat(format_rate(value), "B/s");
  if (printed.unit_text.empty()) return human(value, printed.unit);
  return cat(human(value, printed.unit), " ", printed.unit_text);
}

std::string of_text(const PrintedValue& printed) {
  std::vector<std::string> parts;
  for (const std::string_view part : {printed.model, printed.config, printed.framework})
    if (!part.empty()) parts.emplace_back(part);
  if (printed.batch > 0) parts.push_back(cat("batch ", printed.batch));
  return join(parts, ", ");
}

}  // namespace

Table then_table(std::span<const ThenNow> values) {
  Table table{.title = "Then and now"};
  table.columns = {{"what", "what"},          {"of", "of"},
                   {"then", "then"},          {"now", "now"},
                   {"ratio", "now to then"},  {"confidence", "confidence"},
                   {"device", "device then"}, {"cell", "now measured on"},
                   {"source", "source"},      {"differs", "what differs"}};
  for (const ThenNow& value : values) {
    const PrintedValue& printed = *value.printed;
    table.rows.push_back(
        {std::string(printed.what), of_text(printed),
         cat(printed.relation == Relation::below ? "below " : "", printed_text(printed.value, printed)),
         value.now ? TableCell(printed_text(*value.now, printed)) : TableCell(), cell(value.ratio()),
         std::string(name(printed.confidence)), std::string(printed.device), value.now ? value.cell : value.reason,
         cat(printed.source, ", ", printed.where), std::string(printed.differs)});
  }
  for (const Confidence confidence : {Confidence::read, Confidence::secondary, Confidence::unconfirmed})
    table.notes.push_back(cat("Confidence ", name(confidence), ": ", meaning(confidence), "."));
  table.notes.emplace_back(
      "The paper shows its curves and bars as charts without printed numbers: nothing was read off them.");
  return table;
}

}  // namespace tbd
