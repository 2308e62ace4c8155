#include "data/text/byte_bpe.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "data/text/text_file.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

constexpr int32_t kBytes = 256;

std::vector<int32_t> own_ids() {
  std::vector<int32_t> ids(kBytes);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

enum class Sort { space, letter, number, other };

Sort sort_of(int32_t c) {
  const bool line_space = (c >= 0x09 && c <= 0x0D) || c == 0x85 || c == 0x2028 || c == 0x2029;
  if (line_space || is_unicode_space(c)) return Sort::space;
  if (is_unicode_letter(c)) return Sort::letter;
  return is_unicode_number(c) ? Sort::number : Sort::other;
}

struct Next {
  Sort sort = Sort::other;
  size_t length = 1;
};
Next next_at(std::string_view text, size_t at) {
  const auto point = code_point_at(text, at);
  return point ? Next{sort_of(point->value), point->length} : Next{};
}

size_t contraction_at(std::string_view text, size_t at) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.substr(at).starts_with(ending)) return ending.size();
  return 0;
}

// One past the characters of `sort` from `at` on; `last` is where the last of them begins.
size_t run_end(std::string_view text, size_t at, Sort sort, size_t& last) {
  while (at < text.size()) {
    const Next next = next_at(text, at);
    if (next.sort != sort) break;
    last = at;
    at += next.length;
  }
  return at;
}

size_t word_end(std::string_view text, size_t begin) {
  if (const size_t length = contraction_at(text, begin)) return begin + length;
  size_t last = begin;
  const size_t first = begin + (text[begin] == ' ' && begin + 1 < text.size());
  if (const Next next = next_at(text, first); next.sort != Sort::space) return run_end(text, first, next.sort, last);
  const size_t end = run_end(text, begin, Sort::space, last);
  return end < text.size() && last > begin ? last : end;
}

using Tree = nlohmann::json;  // sorted: looking up in a vocabulary that keeps its order takes linear time

// The characters that stand for bytes in the file: printable bytes of Latin-1 for themselves, the others from U+0100
// on.
std::vector<std::string> byte_characters() {
  std::vector<std::string> characters(256);
  int32_t next = 0x100;
  for (int32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    append_utf8(characters[static_cast<size_t>(byte)], printable ? byte : next++);
  }
  return characters;
}

Tree parse_tree(const std::string& name, const std::string& text) try {
  return Tree::parse(text);
} catch (const Tree::parse_error& e) {
  fail(ErrorKind::invalid, where_in(name, text, e.byte), ": not JSON at byte ", e.byte);
}

void require_byte_level(const Tree& root) {
  const Tree before = root.value("pre_tokenizer", Tree::object());
  const bool known = root.at("model").value("type", "BPE") == "BPE" && before.is_object() &&
                     before.value("type", "") == "ByteLevel" && before.value("use_regex", true) &&
                     !before.value("add_prefix_space", false);
  if (!known) fail(ErrorKind::unsupported, "only a BPE model with a ByteLevel pre-tokenizer is supported");
}

int32_t id_of(const Tree& vocabulary, const std::string& token) {
  const auto found = vocabulary.find(token);
  require(found != vocabulary.end(), "the token '", token, "' is not in the vocabulary");
  const auto id = found->get<int32_t>();
  require(id >= 0, "the token '", token, "' has the id ", id);
  return id;
}

// "a b" or ["a", "b"].
Merge merge_from(const Tree& merge, const Tree& vocabulary) {
  const auto parts = merge.is_string() ? split(merge.get<std::string>(), ' ') : merge.get<std::vector<std::string>>();
  require(parts.size() == 2, "a merge consists of two tokens, got ", merge.dump());
  return {id_of(vocabulary, parts[0]), id_of(vocabulary, parts[1]), id_of(vocabulary, parts[0] + parts[1])};
}

// The id of the first added token with one of these names.
std::optional<int32_t> added_token(const Tree& root, std::initializer_list<const char*> names) {
  const Tree added = root.value("added_tokens", Tree::array());
  for (const char* name : names)
    for (const Tree& token : added)
      if (token.at("content") == name) {
        require(token.at("id").get<int32_t>() >= 0, "the token '", name, "' has the id ", token.at("id").dump());
        return token.at("id").get<int32_t>();
      }
  return std::nullopt;
}

}  // namespace

ByteBpe::ByteBpe(std::vector<int32_t> bytes, const std::vector<Merge>& merges)
    : bytes_(std::move(bytes)), merges_(merges) {
  for (size_t byte = 0; byte < bytes_.size(); ++byte) texts_[bytes_[byte]] = std::string(1, static_cast<char>(byte));
  for (const Merge& merge : merges) texts_[merge.result] = texts_.at(merge.left) + texts_.at(merge.right);
  for (const auto& [id, text] : texts_) size_ = std::max<int64_t>(size_, id + 1);
}

ByteBpe::ByteBpe(const std::vector<Merge>& merges) : ByteBpe(own_ids(), merges) {
  bos_ = static_cast<int32_t>(size_++);
  eos_ = static_cast<int32_t>(size_++);
}

ByteBpe ByteBpe::trained(const WordCounts& counts, int64_t size) {
  require(size >= kBytes + 2, "bytes, bos and eos need ", kBytes + 2, " tokens, got room for ", size);
  Symbols symbols;
  for (int32_t byte = 0; byte < kBytes; ++byte) symbols.add(std::string(1, static_cast<char>(byte)));
  std::vector<CountedWord> words;
  for (const std::string& word : most_frequent(counts, counts.size())) {  // an order of its own, whatever the map's
    CountedWord counted{.count = counts.find(word)->second};
    for (const char byte : word) counted.symbols.push_back(static_cast<unsigned char>(byte));
    words.push_back(std::move(counted));
  }
  const auto joined = [](const std::string& left, const std::string& right) { return left + right; };
  return ByteBpe(learn_merges(words, symbols, static_cast<size_t>(size) - 2, joined));
}

const std::vector<int32_t>& ByteBpe::word_ids(std::string_view word) {
  if (const auto known = known_.find(word); known != known_.end()) return known->second;
  std::vector<int32_t> ids;
  for (const char byte : word) ids.push_back(bytes_[static_cast<unsigned char>(byte)]);
  merges_.apply(ids);
  return known_.emplace(word, std::move(ids)).first->second;
}

std::vector<int32_t> ByteBpe::encode(std::string_view text) {
  std::vector<int32_t> ids;
  for (const std::string_view word : byte_bpe_words(text)) {
    const std::vector<int32_t>& own = word_ids(word);
    ids.insert(ids.end(), own.begin(), own.end());
  }
  return ids;
}

std::string ByteBpe::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids)
    if (const auto found = texts_.find(id); found != texts_.end()) text += found->second;
  return text;
}

std::vector<std::string_view> byte_bpe_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = word_end(text, begin);
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

ByteBpe ByteBpe::read(const std::filesystem::path& path) {
  const Tree root = parse_tree(path.string(), read_file(path));
  try {
    require_byte_level(root);
    const Tree& vocabulary = root.at("model").at("vocab");
    std::vector<int32_t> bytes;
    for (const std::string& character : byte_characters()) bytes.push_back(id_of(vocabulary, character));
    std::vector<Merge> merges;
    for (const Tree& merge : root.at("model").at("merges")) merges.push_back(merge_from(merge, vocabulary));
    const auto eos = added_token(root, {"</s>", "<|endoftext|>", "<|end_of_text|>"});
    require(eos.has_value(), "no added token marks the end of a text: </s>, <|endoftext|> or <|end_of_text|>");
    ByteBpe bpe(std::move(bytes), merges);
    bpe.eos_ = *eos;
    bpe.bos_ = added_token(root, {"<s>", "<|begin_of_text|>"}).value_or(*eos);
    bpe.size_ = std::max<int64_t>({bpe.size_, bpe.eos_ + 1, bpe.bos_ + 1});
    return bpe;
  } catch (const Error& e) {
    throw e.within(path.string());
  } catch (const nlohmann::json::exception& e) {
    fail(ErrorKind::invalid, path.string(), ": not a tokenizer: ", e.what());
  }
}

}  // namespace tbd
