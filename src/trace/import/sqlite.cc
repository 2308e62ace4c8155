#include "trace/import/sqlite.h"

#include <sqlite3.h>

#include "base/error.h"

namespace tbd {
namespace {

// The path as a URI: nothing is written beside the file, no journal is looked for.
std::string uri_of(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string())
    uri += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
  return uri + "?mode=ro&immutable=1";
}

}  // namespace

SqliteFile::SqliteFile(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) fail(ErrorKind::not_found, path.string(), " does not exist");
  const int status = sqlite3_open_v2(uri_of(path).c_str(), &handle_, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  if (status != SQLITE_OK || sqlite3_exec(handle_, "SELECT 1 FROM sqlite_master", nullptr, nullptr, nullptr)) {
    const std::string why = sqlite3_errmsg(handle_);
    sqlite3_close(handle_);
    fail(ErrorKind::invalid, "not a readable SQLite file: ", why);
  }
}

SqliteFile::~SqliteFile() { sqlite3_close(handle_); }

std::set<std::string> SqliteFile::columns(std::string_view table) const {
  std::set<std::string> out;
  sqlite3_stmt* statement = nullptr;
  const std::string query = cat("PRAGMA table_info(\"", table, "\")");
  if (sqlite3_prepare_v2(handle_, query.c_str(), -1, &statement, nullptr) != SQLITE_OK) return out;
  while (sqlite3_step(statement) == SQLITE_ROW)
    if (const auto* name = sqlite3_column_text(statement, 1)) out.insert(reinterpret_cast<const char*>(name));
  sqlite3_finalize(statement);
  return out;
}

SqliteRows::SqliteRows(const SqliteFile& file, std::string_view table, std::initializer_list<std::string_view> columns)
    : file_(file) {
  const std::set<std::string> known = file.columns(table);
  if (known.empty()) return;
  std::string list;
  for (const std::string_view column : columns) {
    const bool has = known.contains(std::string(column));
    list += cat(list.empty() ? "" : ", ", has ? cat("\"", column, "\"") : std::string("NULL"));
  }
  const std::string query = cat("SELECT ", list, " FROM \"", table, "\"");
  if (sqlite3_prepare_v2(file.handle(), query.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
    fail(ErrorKind::invalid, "table ", table, ": ", sqlite3_errmsg(file.handle()));
}

SqliteRows::~SqliteRows() { sqlite3_finalize(statement_); }

bool SqliteRows::next() {
  if (!statement_) return false;
  const int status = sqlite3_step(statement_);
  if (status == SQLITE_ROW) return true;
  if (status != SQLITE_DONE) fail(ErrorKind::invalid, sqlite3_errmsg(file_.handle()));
  return false;
}

std::optional<int64_t> SqliteRows::integer(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_int64(statement_, column);
}

std::string_view SqliteRows::text(int column) const {
  const auto* text = sqlite3_column_text(statement_, column);
  if (!text) return {};
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace tbd
