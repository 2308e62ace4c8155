#include "data/text/squad_file.h"

#include "base/files.h"
#include "base/json.h"
#include "data/text/text_file.h"
#include "data/text/utf8.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

// The bytes at which the characters of `text` begin, and its size.
std::vector<size_t> character_bytes(std::string_view text) {
  std::vector<size_t> bytes = {0};
  while (bytes.back() < text.size()) bytes.push_back(bytes.back() + code_point_at(text, bytes.back()).value().length);
  return bytes;
}

Json parse_squad(const std::string& name, const std::string& text) {
  if (const auto bad = first_bad_byte(text))
    fail(ErrorKind::invalid, where_in(name, text, *bad), ": byte ", *bad + 1, " of the file is not UTF-8");
  try {
    return parse_json(text, name);
  } catch (const Error&) {
    try {  // once more for the place
      [[maybe_unused]] const Json again = Json::parse(text);
    } catch (const nlohmann::json::parse_error& e) {
      const bool cut_off = e.byte > text.size();
      fail(ErrorKind::invalid, where_in(name, text, e.byte), ": not JSON at byte ", e.byte,
           cut_off ? ", where the file ends" : "");
    }
    throw;
  }
}

class SquadReader {
 public:
  SquadReader(std::string name, const std::string& text, bool strict)
      : name_(std::move(name)), text_(text), strict_(strict) {}

  SquadFile read() {
    const Json root = parse_squad(name_, text_);
    each(root, "data", name_ + ": data", [&](const Json& article, const std::string& where) {
      each(article, "paragraphs", where + ".paragraphs",
           [&](const Json& paragraph, const std::string& place) { add_paragraph(paragraph, place); });
    });
    require(!file_.questions.empty(), name_, " has no question with an answer");
    return std::move(file_);
  }

 private:
  // `visit` for each element of object[key], with errors that begin with the element's place.
  template <class Visit>
  void each(const Json& object, const char* key, const std::string& where, const Visit& visit) {
    const auto found = object.find(key);
    require(found != object.end() && found->is_array(), where, ": a list is missing");
    for (size_t i = 0; i < found->size(); ++i) visit((*found)[i], cat(where, "[", i, "]"));
  }
  template <class T>
  T part(const Json& object, const char* key, const std::string& where) const {
    try {
      return at<T>(object, key);
    } catch (const Error& e) {
      throw e.within(where);
    }
  }
  // "FILE:LINE" of the question: ids are unique.
  std::string line_of(const std::string& id) const {
    const size_t at = text_.find('"' + id + '"');
    return at == std::string::npos ? name_ : where_in(name_, text_, at);
  }

  void add_paragraph(const Json& paragraph, const std::string& where) {
    file_.contexts.push_back(part<std::string>(paragraph, "context", where));
    require(!trim(file_.contexts.back()).empty(), where, ": an empty context");
    characters_ = character_bytes(file_.contexts.back());
    each(paragraph, "qas", where + ".qas", [&](const Json& qa, const std::string& place) { add_question(qa, place); });
  }

  void add_question(const Json& qa, const std::string& where) {
    SquadQuestion question{.id = part<std::string>(qa, "id", where),
                           .question = part<std::string>(qa, "question", where),
                           .context = file_.contexts.size() - 1};
    if (trim(question.question).empty())
      fail(ErrorKind::invalid, line_of(question.id), ": question '", question.id, "' is empty");
    each(qa, "answers", where + ".answers", [&](const Json& answer, const std::string& place) {
      add_answer(part<std::string>(answer, "text", place), part<int64_t>(answer, "answer_start", place), question);
    });
    if (!question.answers.empty()) file_.questions.push_back(std::move(question));
  }

  void add_answer(const std::string& text, int64_t start, SquadQuestion& question) {
    const std::string& context = file_.contexts.back();
    const int64_t characters = std::ssize(character_bytes(text)) - 1, most = std::ssize(characters_) - 1;
    if (start < 0 || start > most || characters > most - start)
      fail(ErrorKind::invalid, line_of(question.id), ": answer '", text, "' of question '", question.id,
           "' at character ", start, " lies outside its context");
    const size_t begin = characters_[static_cast<size_t>(start)];
    const size_t end = characters_[static_cast<size_t>(start + characters)];
    if (std::string_view(context).substr(begin, end - begin) == text && !trim(text).empty())
      question.answers.push_back({text, begin, end});
    else
      note(line_of(question.id), cat("answer '", text, "' of question '", question.id, "' does not stand at character ",
                                     start, " of its context"));
  }
  void note(const std::string& where, const std::string& reason) {
    if (strict_) fail(ErrorKind::invalid, where, ": ", reason);
    file_.notes.push_back({where, reason});
  }

  std::string name_;
  const std::string& text_;
  bool strict_;
  std::vector<size_t> characters_;  // of the last context
  SquadFile file_;
};

}  // namespace

SquadFile read_squad(const fs::path& path, bool strict) {
  const std::string text = read_file(path);
  return SquadReader(path.string(), text, strict).read();
}

fs::path find_squad_file(const SourceSpec& spec) {
  const fs::path root = spec.path;
  std::error_code ignored;
  if (fs::is_regular_file(root, ignored)) return root;
  const bool training = spec.split == Split::train;
  const std::vector<std::string> usual = training ? std::vector<std::string>{"train-v1.1.json", "train.json"}
                                                  : std::vector<std::string>{"dev-v1.1.json", "val.json", "dev.json"};
  for (const std::string& name : usual)
    if (fs::exists(root / name, ignored)) return root / name;
  fail(ErrorKind::not_found, root.string(), " has no ", training ? "training" : "validation", " questions; looked for ",
       join(usual, ", "));
}

}  // namespace tbd
