#include "data/known_sets.h"

namespace tbd {
namespace {

constexpr std::string_view kParallel =
    "train.LANGUAGE and val.LANGUAGE for both languages, one sentence a line, words between spaces";
constexpr std::string_view kPlain = "train.txt and val.txt, one sentence a line, a blank line between documents";
constexpr std::string_view kSquad = "train-v1.1.json and dev-v1.1.json, data[].paragraphs[].{context,qas[]}";
constexpr std::string_view kSpeech =
    "SPLIT/SPEAKER/CHAPTER/ID.flac or ID.wav beside SPEAKER-CHAPTER.trans.txt, 'ID TEXT' a line";
constexpr std::string_view kFolders = "train/CLASS/*.JPEG and val/CLASS/*.JPEG";

constexpr std::string_view kGames =
    "train/*.sgf and val/*.sgf, folders below them too; SGF FF[3] or FF[4], the main line";

constexpr KnownSet kSets[] = {
    {.name = "ImageNet-1k",
     .kind = "image_folder",
     .source = "image-net.org, ILSVRC 2012 classification (Russakovsky et al. 2015, arXiv:1409.0575)",
     .licence = "terms of access: research and education, not commercial",
     .size = "1,281,167 training and 50,000 validation images of 1,000 classes (Russakovsky et al. 2015, Table 2)",
     .layout = kFolders,
     .models = "resnet50 inception_v3"},
    {.name = "IWSLT15 English-Vietnamese",
     .kind = "parallel_text",
     .source = "IWSLT 2015, tokenised by the Stanford NLP group (Luong and Manning 2015)",
     .licence = "that of the TED talks: CC BY-NC-ND",
     .size = "133 thousand pairs of sentences (Luong and Manning 2015)",
     .layout = "train.{en,vi}, tst2012.{en,vi}, tst2013.{en,vi}; vocab.{en,vi} where there is one",
     .models = "seq2seq"},
    {.name = "WMT English-German",
     .kind = "parallel_text",
     .source = "WMT 2014 and 2016 translation tasks, joint byte-pair encoding of 32,000 merges",
     .licence = "those of its corpora",
     .size = "about 4.5 million pairs of sentences (Vaswani et al. 2017, arXiv:1706.03762, section 5.1)",
     .layout =
         "train.tok.clean.bpe.32000.{en,de}, newstest2013.tok.bpe.32000.{en,de}; vocab.bpe.32000 where there is one",
     .models = "transformer seq2seq:gnmt_v2"},
    {.name = "Wikipedia-like text",
     .kind = "pretraining_text",
     .source = "English Wikipedia, extracted as plain text; the paper adds BooksCorpus",
     .licence = "Wikipedia: CC BY-SA",
     .size = "2,500 million words, and 800 million of BooksCorpus (Devlin et al. 2018, arXiv:1810.04805, section 3.1)",
     .layout = "train.txt and val.txt or folders of these names, one sentence a line, a blank line between documents; "
               "vocab.txt where there is one",
     .models = "bert"},
    {.name = "SQuAD v1.1",
     .kind = "squad",
     .source = "rajpurkar.github.io/SQuAD-explorer (Rajpurkar et al. 2016, arXiv:1606.05250)",
     .licence = "CC BY-SA 4.0",
     .size = "87,599 training and 10,570 development questions in the published files",
     .layout = kSquad,
     .models = "bert:squad bert:squad_frozen"},
    {.name = "packed text",
     .kind = "packed_text",
     .source = "any plain text; the tokenizer is read or learnt from it",
     .licence = "that of the text",
     .size = "",
     .layout = "as Wikipedia-like text; tokenizer.json where there is one",
     .models = "llama"},
    {.name = "LibriSpeech",
     .kind = "speech",
     .source = "openslr.org/12 (Panayotov et al. 2015, ICASSP)",
     .licence = "CC BY 4.0",
     .size = "960.9 hours for training, of them 100.6 in train-clean-100 (Panayotov et al. 2015, Table 1); 281,241 "
             "and 28,539 utterances in the published files",
     .layout = kSpeech,
     .models = "deep_speech_2"},
    {.name = "game records",
     .kind = "sgf",
     .source =
         "records of games of Go; AlphaGo's first network learnt from games of the KGS server (Silver et al. 2016)",
     .licence = "that of the records",
     .size = "about 30 million positions (Silver et al. 2016)",
     .layout = kGames,
     .models = "minigo"},
    {.name = "photos",
     .kind = "image_folder",
     .source = "Debian: mate-backgrounds (and plasma-workspace-wallpapers)",
     .licence = "GPL-2+",
     .size = "of mate-backgrounds 1.26.0: 360 training and 60 validation images of 12 classes, 47 MB",
     .layout = kFolders,
     .models = "resnet50 inception_v3",
     .made_by = "tbd data photos --source DIR --out DIR",
     .folder = "photos"},
    {.name = "messages-de",
     .kind = "parallel_text",
     .source = "Debian: message catalogues of coreutils, gettext, gnucash-common, binutils-common, aptitude-common",
     .licence = "GPL-2+ and GPL-3+",
     .size = "6,200 training and 359 validation pairs, 1.0 MB",
     .layout = kParallel,
     .models = "transformer seq2seq:gnmt_v2",
     .made_by = "tbd data messages --language de --source DIR --out DIR",
     .folder = "messages-de"},
    {.name = "messages-vi",
     .kind = "parallel_text",
     .source = "Debian: message catalogues of coreutils, gettext, gnucash-common, binutils-common, aptitude-common",
     .licence = "GPL-2+ and GPL-3+",
     .size = "6,486 training and 347 validation pairs, 1.0 MB",
     .layout = kParallel,
     .models = "seq2seq",
     .made_by = "tbd data messages --language vi --source DIR --out DIR",
     .folder = "messages-vi"},
    {.name = "prose",
     .kind = "pretraining_text",
     .source = "Debian: pages of debian-faq, debian-policy, debian-reference-en, developers-reference",
     .licence = "GPL-2+; the FAQ: copies and changes under the same notice",
     .size = "154,327 words for training, 32,077 for validation, 1.2 MB",
     .layout = kPlain,
     .models = "bert llama",
     .made_by = "tbd data prose --source DIR --out DIR",
     .folder = "prose"},
    {.name = "cloze",
     .kind = "squad",
     .source = "questions made from the pages of prose",
     .licence = "as prose",
     .size = "4,261 training and 973 validation questions, 2.5 MB",
     .layout = kSquad,
     .models = "bert:squad bert:squad_frozen",
     .made_by = "tbd data cloze --source DIR --out DIR",
     .folder = "cloze"},
    {.name = "prompts",
     .kind = "speech",
     .source = "Debian: asterisk-core-sounds-en-wav and asterisk-core-sounds-en (and pocketsphinx-testdata)",
     .licence = "CC-BY-SA-3.0 (pocketsphinx-testdata: BSD-2-Clause)",
     .size = "438 training utterances of 15.1 minutes and 41 validation utterances of 1.1, 5 of another voice held "
             "out; 32 MB",
     .layout = kSpeech,
     .models = "deep_speech_2",
     .made_by = "tbd data prompts --source DIR --out DIR",
     .folder = "prompts"},
    {.name = "games",
     .kind = "sgf",
     .source = "Debian: gnugo, playing against itself",
     .licence = "made on your machine",
     .size = "200 games on 9 x 9: 7,956 training and 871 validation positions, 75 kB",
     .layout = kGames,
     .models = "minigo:9",
     .made_by = "tbd data games --out DIR",
     .folder = "games"},
};

}  // namespace

std::span<const KnownSet> known_sets() { return kSets; }

}  // namespace tbd
