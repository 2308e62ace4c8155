#include "record/json_lines.h"

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"

namespace tbd {

void for_each_json_line(const std::filesystem::path& file, const std::function<void(const Json&)>& take) {
  if (!is_file(file)) return;
  const std::string text = read_file(file);
  int64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) return;  // a line that was cut
    const std::string where = cat(file.string(), ": line ", ++number);
    try {
      take(parse_json(std::string_view(text).substr(begin, end - begin), where));
    } catch (const nlohmann::json::exception& e) {
      fail(ErrorKind::invalid, where, ": ", e.what());
    } catch (const Error& e) {
      const std::string what = e.what();
      throw what.starts_with(where) ? e : e.within(where);
    }
    begin = end + 1;
  }
}

}  // namespace tbd
