// Reading an SQLite file: tables are asked for, not assumed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace tbd {

class SqliteFile {
 public:
  explicit SqliteFile(const std::filesystem::path& path);  // read only; throws Error(not_found, invalid)
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;
  std::set<std::string> columns(std::string_view table) const;  // empty where there is no such table
  sqlite3* handle() const { return handle_; }

 private:
  sqlite3* handle_ = nullptr;
};

// The rows of a table; columns that it lacks read as null.
class SqliteRows {
 public:
  SqliteRows(const SqliteFile& file, std::string_view table, std::initializer_list<std::string_view> columns);
  ~SqliteRows();
  SqliteRows(const SqliteRows&) = delete;
  SqliteRows& operator=(const SqliteRows&) = delete;
  bool next();  // throws Error(invalid) when the file is damaged here
  std::optional<int64_t> integer(int column) const;
  int64_t integer_or(int column, int64_t otherwise) const { return integer(column).value_or(otherwise); }
  std::string_view text(int column) const;  // good until next

 private:
  const SqliteFile& file_;
  sqlite3_stmt* statement_ = nullptr;  // null where there is no such table
};

}  // namespace tbd
