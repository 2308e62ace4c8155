#!/usr/bin/env python3
"""Makes a small real text data set from unpacked Debian packages (docs/data.md, "The small text sets").

  make_text_set.py messages --source DIR --out DIR [--language de]   parallel text from message catalogues
  make_text_set.py prose    --source DIR --out DIR                   sentences of documentation pages
  make_text_set.py cloze    --source DIR --out DIR                   questions on those pages, as SQuAD v1.1

The folder of --out must not exist or be empty. The set is made beside it and renamed at the end, so a set that is there
is whole. What cannot be read is named and left out. Exit: 0 made, 1 not made, 2 wrong usage.
"""
import argparse
import hashlib
import html.parser
import json
import os
import re
import shutil
import struct
import sys
import unicodedata
from pathlib import Path

# As the packages' copyright files say of their text.
LICENCES = {
    "aptitude-common": "GPL-2+",
    "binutils-common": "GPL-3+",
    "coreutils": "GPL-3+",
    "debian-faq": "copies and changes under the same notice",
    "debian-policy": "GPL-2+",
    "debian-reference-en": "GPL-2+",
    "developers-reference": "GPL-2+",
    "gettext": "GPL-3+",
    "gnucash-common": "GPL-2+",
}


def of_categories(*categories):
    """The characters of Unicode categories, for the inside of a regular expression's [...]."""
    return re.escape("".join(c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) in categories))


GAP = of_categories("Zs", "Cc", "Cf")
GAPS = re.compile(f"[{GAP}]+")
LETTER = r"[^\W\d_]"


def has_letter(word):
    return any(map(str.isalpha, word))


class SetError(Exception):
    """One clear sentence for the person."""


def share_of(text):
    """A number from 0 to 1 that the text decides: which split it belongs to."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32


def origin(file):
    """The Debian package that ships a file, and its licence; None for other files."""
    package = next((name for name in LICENCES if f"/{name}/usr/" in f"/{file}"), None)
    return {"file": file, "package": package, "licence": LICENCES.get(package)}


def files_below(folder, *patterns):
    if not folder.is_dir():
        raise SetError(f"cannot read folder {folder}")
    paths = [path for pattern in patterns for path in folder.rglob(pattern) if path.is_file()]
    return sorted(path.relative_to(folder).as_posix() for path in paths)


def write_set(name, out, texts, description):
    """Writes the files `texts` (text by name) and data.json; returns what data.json says."""
    contents = {file: text.encode() for file, text in sorted(texts.items())}
    hashes = "".join(f"{hashlib.sha256(content).hexdigest()}  {file}\n" for file, content in contents.items())
    description = {
        "name": name,
        "content_sha256": hashlib.sha256(hashes.encode()).hexdigest(),
        "files": len(contents),
        "bytes": sum(map(len, contents.values())),
        **description,
        "made_by": f"tools/make_text_set.py {name}",
    }
    beside = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        beside.mkdir(parents=True)
        for file, content in contents.items():
            (beside / file).write_bytes(content)
        (beside / "data.json").write_text(json_text(description), encoding="utf-8")
        beside.rename(out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return description


def json_text(value):
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def read_catalogue(path):
    """The (text, translation) of a catalogue in the binary form of GNU gettext (its manual, "The Format of GNU MO
    Files"): without the header, contexts and untranslated messages; of plurals the first form."""
    data = path.read_bytes()

    def demand(holds, what):
        if not holds:
            raise SetError(f"{path}: {what}")

    demand(len(data) >= 28, f"{len(data)} bytes, fewer than a catalogue's header")
    order = next((order for order in "<>" if struct.unpack_from(f"{order}I", data)[0] == 0x950412DE), None)
    demand(order, "not a message catalogue: its first bytes are not 0x950412de in any order")
    revision, count, *tables = struct.unpack_from(f"{order}4I", data, 4)
    demand(revision >> 16 <= 1, f"revision {revision >> 16} of the format, known are 0 and 1")
    for what, begin in zip(("texts", "translations"), tables):
        end = begin + 8 * count
        demand(end <= len(data), f"the table of {what} ends at byte {end}, outside the file's {len(data)}")

    def string(table, i):
        length, begin = struct.unpack_from(f"{order}2I", data, table + 8 * i)
        end = begin + length
        demand(end <= len(data), f"message {i + 1} ends at byte {end}, outside the file's {len(data)}")
        return data[begin:end].split(b"\0")[0].split(b"\4", 1)[-1]

    messages, has_header = [], False
    for i in range(count):
        text, translation = (string(table, i) for table in tables)
        if not text and not has_header:
            has_header = True
            charset = re.search(rb"charset=([^ \t\r\n;]*)", translation.lower())
            demand(charset, "its header names no charset")
            named = charset[1].decode(errors="replace")
            demand(named in ("utf-8", "utf8"), f"its charset is {named}, not UTF-8")
        try:
            message = text.decode(), translation.decode()
        except UnicodeDecodeError:
            demand(False, f"message {i + 1} is not UTF-8")
        if all(message):
            messages.append(message)
    demand(has_header, "it has no header, which names the charset")
    return messages


# Conversions of printf (a space is no flag: "100% done") and of Python, %1 of Qt; {name}, ${name}; <b>, </b>, <file>.
NAME = r"[A-Za-z0-9_.-]*"
PLACEHOLDER = rf"""%(?:\({NAME}\))?[0-9]*\$?[-#0-9+'I.*]*[hlLqjzt]*[diouxXeEfFgGaAcsSpnm]
    | %(?:\({NAME}\)|[0-9]+\$?|\$) | [%$]?\{{{NAME}\}} | </?[A-Za-z][^<>]*>"""
# A word is of letters, digits and marks, with ' ’ - . _ and , between them. The dashes of an option belong to it.
PART = rf"(?:[^\W_]|[{of_categories('Mn')}])+"
OPTION = rf"(?<![^{GAP}„“”‘’–—、。，：（「])--?(?={LETTER})"
TOKEN = re.compile(
    rf"(?P<placeholder>{PLACEHOLDER}) | (?:{OPTION})?{PART}(?:['’._,-]{PART})* | %%? | [^{GAP}]", re.VERBOSE
)


def tokens_of(message):
    """The tokens of a message, and how many of them are words with a letter."""
    matches = list(TOKEN.finditer(message))
    tokens = ["<x>" if match["placeholder"] else "%" if match[0] == "%%" else match[0] for match in matches]
    return tokens, sum(not match["placeholder"] and has_letter(match[0]) for match in matches)


def without_shortcuts(*texts):
    """Without the mark of a keyboard shortcut (_Open, &File) where each text has exactly one of the same kind."""
    for mark in (re.compile(f"_(?={LETTER})"), re.compile(f"&(?={LETTER})")):
        if all(len(mark.findall(text)) == 1 for text in texts):
            texts = [mark.sub("", text) for text in texts]
    return texts


MESSAGES_VAL_SHARE, MESSAGES_LEAST_WORDS = 0.05, 3  # of the source sentences; of a source sentence


def make_messages(source, language):
    if language in ("", "en"):
        raise SetError("messages are translated from English to another language")
    known, sources, left_out = {}, [], []  # the splits by pair
    for file in files_below(source, f"{language}/LC_MESSAGES/*.mo"):
        before = len(known)
        try:
            messages = read_catalogue(source / file)
        except (SetError, OSError) as error:
            left_out.append({"file": file, "reason": str(error)})
            continue
        for message in messages:
            (text, words), (translation, translated) = map(tokens_of, without_shortcuts(*message))
            pair = " ".join(text), " ".join(translation)
            if words >= MESSAGES_LEAST_WORDS and translated > 0 and pair[0] != pair[1]:
                known[pair] = "val" if share_of(pair[0]) < MESSAGES_VAL_SHARE else "train"
        sources.append({**origin(file), "pairs": len(known) - before})
    pairs = {split: [pair for pair in known if known[pair] == split] for split in ("train", "val")}
    train, val = map(len, pairs.values())
    if not (train and val):
        raise SetError(f"{source} gives {train} pairs of sentences for training and {val} for validation, from "
                       f"{len(sources)} catalogues {language}/LC_MESSAGES/*.mo")
    texts = {f"{split}.{suffix}": "".join(pair[side] + "\n" for pair in pairs[split])
             for split in pairs for side, suffix in enumerate(("en", language))}
    description = {"languages": ["en", language], "train_pairs": train, "val_pairs": val,
                   "val_share": MESSAGES_VAL_SHARE, "least_words": MESSAGES_LEAST_WORDS,
                   "sources": sources, "left_out": left_out}
    return texts, description, f"{train:,} training and {val:,} validation pairs, en-{language}"


class PageReader(html.parser.HTMLParser):
    """The text of p, li, dd and blockquote elements, each up to the next element of its level."""

    PROSE = frozenset("p li dd blockquote".split())
    SKIPPED = frozenset("script style pre head nav".split())
    INLINE = frozenset("a abbr acronym b bdi big cite code del dfn em font i img ins kbd mark q s samp small span "
                       "strong sub sup tt u var wbr".split())

    def __init__(self, page):
        super().__init__()
        self.language, self.paragraphs = "", []
        self.text, self.in_prose, self.skipped = "", False, None
        self.feed(page)
        self.close()
        self.end_paragraph()

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag in self.SKIPPED and not self.skipped:
            self.skipped = tag

    def handle_startendtag(self, tag, attrs):
        if tag == "html":
            self.language = dict(attrs).get("lang") or ""
        if not self.skipped:
            self.pass_tag(tag, tag in self.PROSE)

    def handle_endtag(self, tag):
        if self.skipped == tag:
            self.skipped = None
        if not self.skipped:
            self.pass_tag(tag, False)

    def handle_data(self, data):
        if self.in_prose:
            self.text += data

    def pass_tag(self, tag, in_prose):
        if tag == "br":
            self.text += " "
        elif tag not in self.INLINE:
            self.end_paragraph()
            self.in_prose = in_prose

    def end_paragraph(self):
        paragraph = GAPS.sub(" ", self.text).strip(" ")
        self.text = ""
        if paragraph:
            self.paragraphs.append(paragraph)


PAGES_VAL_SHARE, PAGES_LEAST_WORDS = 0.1, 4  # of the pages; of a sentence
ENDS = re.compile(r"[.!?][\"')\]”’»]*\Z")
BEGINS = re.compile(r"[A-Z0-9\"'(\[“‘]")
ABBREVIATION = re.compile(r"[\"'(\[]*(?:[A-Za-z]|e\.g|i\.e|etc|vs|cf|Mr|Mrs|Dr|No|resp)\.")


def sentences_of(paragraph):
    words, sentences, begin = paragraph.split(" "), [], 0
    for end, word in enumerate(words, 1):
        inside = not ENDS.search(word) or ABBREVIATION.fullmatch(word)
        if end == len(words) or not inside and BEGINS.match(words[end]):
            sentences.append(" ".join(words[begin:end]))
            begin = end
    return sentences


def is_sentence(text):
    return bool(ENDS.search(text)) and sum(map(has_letter, text.split(" "))) >= PAGES_LEAST_WORDS


def read_pages(source):
    """Of each English page its file, its split and its paragraphs, lists of sentences that have not come before; and
    the pages left out."""
    pages, left_out, known = [], [], set()
    for file in files_below(source, "*.html", "*.htm"):
        try:
            reader = PageReader((source / file).read_bytes().decode())
        except UnicodeDecodeError as error:
            left_out.append({"file": file, "reason": f"byte {error.start + 1} is not UTF-8"})
            continue
        if reader.language and not reader.language.startswith("en"):
            continue
        paragraphs = []
        for paragraph in reader.paragraphs:
            sentences = dict.fromkeys(s for s in sentences_of(paragraph) if is_sentence(s) and s not in known)
            known.update(sentences)
            if sentences:
                paragraphs.append(list(sentences))
        bare_name = Path(file).name.split(".")[0]  # pkgs of pkgs.en.html: a page keeps its split wherever it is
        if paragraphs:
            pages.append((file, "val" if share_of(bare_name) < PAGES_VAL_SHARE else "train", paragraphs))
    val = sum(split == "val" for _, split, _ in pages)
    if not 0 < val < len(pages):
        raise SetError(f"{source} gives {len(pages) - val} pages of English text for training and {val} for validation "
                       "(*.html)")
    return pages, left_out


def describe_pages(pages, counts, left_out):
    return {**counts, "val_share": PAGES_VAL_SHARE, "least_words": PAGES_LEAST_WORDS,
            "sources": [origin(file) for file, _, _ in pages], "left_out": left_out}


def make_prose(source):
    pages, left_out = read_pages(source)
    texts, counts = {}, {}
    for side in ("train", "val"):
        documents = [sum(paragraphs, []) for _, split, paragraphs in pages if split == side]
        sentences = sum(documents, [])
        texts[f"{side}.txt"] = "\n".join("".join(f"{sentence}\n" for sentence in document) for document in documents)
        counts[side] = {"documents": len(documents), "sentences": len(sentences),
                        "words": sum(len(sentence.split(" ")) for sentence in sentences)}
    said = ", ".join(f"{counts[side]['sentences']:,} sentences of {counts[side]['words']:,} words for {purpose}"
                     for side, purpose in {"train": "training", "val": "validation"}.items())
    return texts, describe_pages(pages, counts, left_out), said


MOST_WORDS = 4
ASKED_FOR = "placeholder"  # in a question, for its answer
PLAIN_WORD = re.compile(r"([A-Za-z0-9-]+)[.,;:!?)\"']*")
DETERMINERS = frozenset("a an any each every its my no our some the their these this those your".split())
FUNCTION_WORDS = DETERMINERS | frozenset(
    """about after against also although always am among and are as at be because been before being between both but by
    can cannot could did do does during either for from had has have he her here his how however i if in into is it like
    may might more most must neither never nor not of off often on only onto or other out over shall she should since so
    such than that then there they through to too under unless until up upon via was we were what when where whether
    which while who whose why will with within without would you""".split())


def noun_phrase(words):
    """What looks like a noun phrase at the beginning of `words`: all up to the next function word or punctuation mark;
    empty where that is nothing or more than MOST_WORDS."""
    phrase = []
    for word in words:
        plain = PLAIN_WORD.fullmatch(word)
        if plain and plain[1].lower() in FUNCTION_WORDS:
            break
        if not plain or len(phrase) == MOST_WORDS:
            return ""
        phrase.append(plain[1])
        if plain[1] != word:
            break
    return " ".join(phrase)


def answer_in(sentence, context):
    """A phrase behind a determiner that is once in `context`, of several the one that the sentence's share falls on;
    None where there is none."""
    words = sentence.split(" ")
    phrases = [noun_phrase(words[i:]) for i, word in enumerate(words[:-1], 1) if word.lower() in DETERMINERS]
    phrases = [phrase for phrase in phrases if phrase and context.find(phrase) == context.rfind(phrase)]
    return phrases[int(share_of(sentence) * len(phrases))] if phrases else None


def questions_on(sentences):
    context, questions = " ".join(sentences), []
    for sentence in sentences:
        answer = answer_in(sentence, context)
        if answer:
            questions.append({"id": hashlib.sha256(sentence.encode()).hexdigest()[:24],
                              "question": sentence.replace(answer, ASKED_FOR),
                              "answers": [{"text": answer, "answer_start": context.find(answer)}]})
    return {"context": context, "qas": questions}


def make_cloze(source):
    pages, left_out = read_pages(source)
    texts, counts = {}, {}
    for side, stem in (("train", "train"), ("val", "dev")):
        articles = []
        for file, split, paragraphs in pages:
            asked = [questions_on(sentences) for sentences in paragraphs if split == side and len(sentences) > 1]
            asked = [paragraph for paragraph in asked if paragraph["qas"]]
            if asked:
                articles.append({"title": file, "paragraphs": asked})
        contexts = [paragraph for article in articles for paragraph in article["paragraphs"]]
        counts[side] = {"contexts": len(contexts), "questions": sum(len(context["qas"]) for context in contexts)}
        texts[f"{stem}-v1.1.json"] = json_text({"version": "1.1", "data": articles})
    (train_on, train), (val_on, val) = (split.values() for split in counts.values())
    if not (train and val):
        raise SetError(f"{source} gives {train} questions for training and {val} for validation")
    said = f"{train:,} questions on {train_on:,} paragraphs for training, {val:,} on {val_on:,} for validation"
    return texts, describe_pages(pages, counts, left_out), said


MAKERS = {"messages": make_messages, "prose": make_prose, "cloze": make_cloze}


def make_set(name, source, out, **options):
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise SetError(f"{out} exists and is not empty")
    texts, description, said = MAKERS[name](source, **options)
    return write_set(name, out, texts, description), said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sets = parser.add_subparsers(dest="name", metavar="SET", required=True)
    for name in MAKERS:
        options = sets.add_parser(name)
        options.add_argument("--source", type=Path, required=True, help="folder of unpacked packages")
        options.add_argument("--out", type=Path, required=True, help="folder to write")
        if name == "messages":
            options.add_argument("--language", default="de", help="of the translations [de]")
    try:
        made, said = make_set(**vars(parser.parse_args()))
    except (SetError, OSError) as error:
        sys.exit(f"make_text_set.py: {error}")
    for file in made["left_out"]:
        print(f"left out: {file['file']}: {file['reason']}", file=sys.stderr)
    print(f"{said}, {made['bytes']:,} bytes, content {made['content_sha256'][:16]}")


if __name__ == "__main__":
    main()
