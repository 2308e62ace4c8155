// Text cut into words and signs in the manner of BERT's uncased models, before words are cut into pieces.
// Devlin et al. 2018, arXiv:1810.04805; google-research/bert tokenization.py, BasicTokenizer.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

// A word or sign, lower-case and without accents, and where each of its bytes came from.
struct BasicToken {
  struct Origin {
    uint32_t begin, end;  // bytes of the text
  };
  std::string text;
  std::vector<Origin> origins;  // by byte of text
};

// Control characters are dropped, white space parts, each punctuation mark (all ASCII signs among them) and each
// ideograph stands alone, letters become lower-case, decomposed, without nonspacing marks. `text` is valid UTF-8.
std::vector<BasicToken> basic_tokens(std::string_view text);

}  // namespace tbd
