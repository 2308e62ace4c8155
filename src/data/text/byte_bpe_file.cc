#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "data/text/byte_bpe.h"
#include "data/text/text_file.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

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
  if (!known) fail(ErrorKind::unsupported, "only a BPE model behind a ByteLevel pre-tokenizer is known");
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
  require(parts.size() == 2, "a merge is two tokens, got ", merge.dump());
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
    require(eos.has_value(), "no added token ends a text: </s>, <|endoftext|> or <|end_of_text|>");
    ByteBpe bpe(std::move(bytes), merges);
    bpe.eos_ = *eos;
    bpe.bos_ = added_token(root, {"<s>", "<|begin_of_text|>"}).value_or(*eos);
    bpe.size_ = std::max<int64_t>({bpe.size_, bpe.eos_ + 1, bpe.bos_ + 1});
    return bpe;
  } catch (const Error& e) {
    throw e.within(path.string());
  } catch (const nlohmann::json::exception& e) {
    fail(ErrorKind::invalid, path.string(), ": no tokenizer: ", e.what());
  }
}

}  // namespace tbd
