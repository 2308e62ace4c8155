#!/usr/bin/env python3
"""The text data sets: what is taken from catalogues and pages, what is left out, and the bytes that are written."""
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import make_text_set
from make_text_set import (ASKED_FOR, PageReader, SetError, answer_in, is_sentence, make_set, questions_on,
                           read_catalogue, sentences_of, tokens_of, without_shortcuts)

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tbd"
HEADER = ("", "Language: de\nContent-Type: text/plain; charset=UTF-8\n")
# content_sha256 of the sets made from the packages of deps/debian.txt, and of those made from the sources below.
FROM_PACKAGES = {
    "messages-de": "c6de8ca6db6b24846dab3a1b6cc1eaf02df84fb1b8b1290a95bbe060d6bf752e",
    "messages-vi": "00f45cd67ecf834bce0dcdca0441ee2054d5ab9aebc7ff600129805097060e79",
    "prose": "a852b89c3988aff789a16e3c16b146f097b45006d7129813c4f9b5e0a7930236",
    "cloze": "f13ca3e59a063e46170c41a165934d4cb3a5434bb71e74416465f373e58ef549",
}
FROM_SMALL_SOURCES = {
    "messages": "64460ceda138eb43f50674894864bada22713a1c6b9b074f593d39ecc955b5d1",
    "prose": "2556c242561559781719fe1b62780fab6617fb58de3d33c520e9aabd0f7ead6c",
    "cloze": "0192d0fb95529ff7b00f690e6b3a7fac805f16ac38d0ccd4c127e29639a36c8c",
}


def encoded(*texts):
    return [text if isinstance(text, bytes) else text.encode() for text in texts]


def catalogue_bytes(messages, order="<"):
    """A .mo file: header, table of texts, table of translations, strings."""
    count = len(messages)
    strings = encoded(*(text for text, _ in messages), *(translation for _, translation in messages))
    begin, entries = 28 + 16 * count, []
    for string in strings:
        entries += [len(string), begin]
        begin += len(string) + 1
    words = [0x950412DE, 0, count, 28, 28 + 8 * count, 0, 28 + 16 * count, *entries]
    return struct.pack(f"{order}{len(words)}I", *words) + b"".join(string + b"\0" for string in strings)


def many(count):
    return [HEADER] + [(f"cannot open file{i}: %s", f"Datei{i} geht nicht auf: %s") for i in range(count)]


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tbd-text-set-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write_catalogue(self, name, messages):
        self.path(f"in/coreutils/usr/share/locale/de/LC_MESSAGES/{name}").write_bytes(catalogue_bytes(messages))

    def write_pages(self, count=40):
        """Pages of three sentences each, of which the last is in all; one in German and one that is not UTF-8."""
        folder = "in/debian-faq/usr/share/doc"
        for i in range(count):
            self.path(f"{folder}/page{i}.en.html").write_text(
                f'<html lang="en"><p>Größe: the boot loader{i} reads a file. It then starts its kernel{i} at once.</p>'
                "<p>This is on every page.</p></html>")
        self.path(f"{folder}/page.de.html").write_text('<html lang="de"><p>Das ist ein deutscher Satz.</p></html>')
        self.path(f"{folder}/bad.html").write_bytes(b"<p>gr\xf6\xdf</p>")

    def make(self, name, out="out", source="in", **options):
        return make_set(name, self.folder / source, self.folder / out, **options)[0]

    def lines(self, name):
        return (self.folder / name).read_text().splitlines()

    def check(self, kind, *options):
        """What `tbd data check` says of each split of the set."""
        program = os.environ.get("TBD_PROGRAM")
        if not program:
            self.skipTest("TBD_PROGRAM names no program to read the set with")
        words = [program, "data", "check", kind, self.folder / "out", "--json", *options]
        said = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
        splits = {split["split"]: split for split in map(json.loads, said.splitlines())}
        self.assertTrue(all(split["as_recorded"] for split in splits.values()))
        return splits


class Catalogue(InFolder):
    def read(self, content):
        self.path("de.mo").write_bytes(content)
        return read_catalogue(self.path("de.mo"))

    def test_both_byte_orders_are_read(self):
        messages = [HEADER, ("No space", "Kein Platz"), ("x", "Größe")]
        for order in "<>":
            self.assertEqual(self.read(catalogue_bytes(messages, order)), messages[1:])

    def test_contexts_are_dropped_and_the_first_of_plurals_is_taken(self):
        messages = [HEADER, ("menu\4One file\0%d files", "Eine Datei\0%d Dateien"), ("untranslated", "")]
        self.assertEqual(self.read(catalogue_bytes(messages)), [("One file", "Eine Datei")])

    def test_what_is_wrong_with_a_file_is_named(self):
        good = catalogue_bytes([HEADER, ("No space", "Kein Platz")])
        faults = {
            b"text": "4 bytes, fewer than a catalogue's header",
            b"x" + good: "not a message catalogue: its first bytes are not 0x950412de in any order",
            good[:-3]: "message 2 ends at byte 134, outside the file's 132",
            good[:40]: "the table of texts ends at byte 44, outside the file's 40",
            catalogue_bytes([("", "Content-Type: text/plain; charset=ISO-8859-1\n")]):
                "its charset is iso-8859-1, not UTF-8",
            catalogue_bytes([("", "Language: de\n")]): "its header names no charset",
            catalogue_bytes([("a", "b")]): "it has no header, which names the charset",
            catalogue_bytes([HEADER, ("size", b"Gr\xf6\xdf\x65")]): "message 2 is not UTF-8",
        }
        for content, fault in faults.items():
            with self.assertRaises(SetError) as refused:
                self.read(content)
            self.assertEqual(str(refused.exception), f"{self.path('de.mo')}: {fault}")


class MessageText(unittest.TestCase):
    def assert_tokens(self, message, expected):
        self.assertEqual(" ".join(tokens_of(message)[0]), expected)

    def test_punctuation_is_split_off(self):
        self.assert_tokens('cannot open "x": no space (yet).', 'cannot open " x " : no space ( yet ) .')
        self.assert_tokens("don't use file.txt, it's non-empty\n\tand 1,024 wide…",
                           "don't use file.txt , it's non-empty and 1,024 wide …")
        self.assert_tokens("Größe „x“ không — được", "Größe „ x “ không — được")
        self.assert_tokens("", "")

    def test_dashes_stay_with_an_option(self):
        self.assert_tokens("  -a, --all  do - not", "-a , --all do - not")
        self.assert_tokens("„-n“ and “--all” (-x) a--b ---c", "„ -n “ and “ --all ” ( - x ) a - - b - - - c")

    def test_conversions_and_markup_are_one_token(self):
        self.assert_tokens("%s: read %5.2f of %lu, %1$s or %-*d", "<x> : read <x> of <x> , <x> or <x>")
        self.assert_tokens("%(name)s in {file} and {0} at ${HOME} %1", "<x> in <x> and <x> at <x> <x>")
        self.assert_tokens("<b>Bold</b> <file name>x", "<x> Bold <x> <x> x")
        self.assert_tokens("100% done, 5%% more, a < b > c", "100 % done , 5 % more , a < b > c")

    def test_words_have_a_letter(self):
        self.assertEqual(tokens_of("%s: %d <b>")[1], 0)
        self.assertEqual(tokens_of("12 files, %d left.")[1], 2)

    def test_a_shortcut_that_both_have_is_dropped(self):
        both = without_shortcuts("_Edit file", "Datei be_arbeiten")
        self.assertEqual(list(both), ["Edit file", "Datei bearbeiten"])
        for pair in [("use a_name", "nutze Namen"), ("a_name or b_name", "a_name oder b_name")]:
            self.assertEqual(without_shortcuts(*pair), pair)


class MessageSet(InFolder):
    def test_the_program_reads_what_is_written(self):
        self.write_catalogue("a.mo", many(200))
        made = self.make("messages", language="de")
        self.assertEqual((made["train_pairs"] + made["val_pairs"], made["files"]), (200, 4))
        self.assertEqual((made["sources"][0]["package"], made["sources"][0]["pairs"]), ("coreutils", 200))
        self.assertEqual(self.lines("out/train.en")[0], "cannot open file1 : <x>")  # file0 is of val
        self.assertEqual(self.lines("out/train.de")[0], "Datei1 geht nicht auf : <x>")
        splits = self.check("parallel_text")
        self.assertEqual([splits[split]["samples"] for split in ("train", "val")],
                         [made["train_pairs"], made["val_pairs"]])

    def test_no_source_sentence_is_in_both_splits(self):
        again = [HEADER] + [(text, f"{translation} !") for text, translation in many(300)[1:]]
        self.write_catalogue("a.mo", many(300))
        self.write_catalogue("b.mo", again[:2])
        self.write_catalogue("c.mo", again)
        self.make("messages", language="de")
        val = self.lines("out/val.en")
        self.assertGreater(len(val), 5)
        self.assertEqual(set(val) & set(self.lines("out/train.en")), set())

    def test_what_teaches_nothing_is_left_out(self):
        useless = [("%s: %d of %s", "%s: %d von %s"), ("two words", "zwei Worte"), ("the very same", "the very same"),
                   ("has no word", "%s"), many(1)[1]]
        self.write_catalogue("a.mo", many(200) + useless)
        self.path("in/coreutils/usr/share/locale/de/LC_MESSAGES/bad.mo").write_text("text")
        made = self.make("messages", language="de")
        self.assertEqual(made["train_pairs"] + made["val_pairs"], 200)
        [left_out] = made["left_out"]
        self.assertIn("bad.mo", left_out["file"])
        self.assertIn("fewer than a catalogue's header", left_out["reason"])

    def test_nothing_is_left_behind_when_it_fails(self):
        self.write_catalogue("a.mo", many(100))
        one = self.make("messages", "one", language="de")
        self.assertEqual(self.make("messages", "two", language="de")["content_sha256"], one["content_sha256"])
        for out, source, language in map(str.split, ["out in vi", "out in en", "one in de", "out none de"]):
            with self.assertRaises(SetError):
                self.make("messages", out, source, language=language)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["in", "one", "two"])


class Pages(unittest.TestCase):
    def test_running_text_is_kept_with_its_references(self):
        page = PageReader(
            '<!DOCTYPE html><html lang="en-GB"><head><title>A title here.</title></head><body><h1>A heading.</h1>'
            "<p>Files &amp; <b>folders</b>,\n  as&nbsp;&#x201c;text&#8221; &unknown; too.<br/>Next</p><pre>ls <p>-l</p>"
            '</pre><ul><li>An <a href="x">item</a></li></ul><!-- <p>no</p> -->'
            "<table><tr><td>cell</td></tr></table></body></html>")
        self.assertEqual(page.language, "en-GB")
        self.assertEqual(page.paragraphs, ["Files & folders, as “text” &unknown; too. Next", "An item"])

    def test_a_paragraph_ends_at_the_next_element(self):
        for page, paragraphs in [("<p>one<p>two<div>left out</div><dd>three<dl>left out", ["one", "two", "three"]),
                                 ("no element <", []), ("<p>cut off &am", ["cut off &am"])]:
            self.assertEqual(PageReader(page).paragraphs, paragraphs)

    def test_sentences_end_where_the_next_begins(self):
        self.assertEqual(sentences_of('Read this. Then (see "that.") Stop! 3 files? end'),
                         ["Read this.", 'Then (see "that.")', "Stop!", "3 files? end"])

    def test_sentences_do_not_end_behind_abbreviations_or_before_small_letters(self):
        for sentence in ["Use a shell (e.g. Bash) by J. Doe etc. Now go.", "The file .bashrc. is read"]:
            self.assertEqual(sentences_of(sentence), [sentence])

    def test_sentences_have_words_and_an_end(self):
        for text in ["This has four words.", "(It ends in brackets!)"]:
            self.assertTrue(is_sentence(text), text)
        for text in ["Only three words.", "This one has no end", "1 2 3 4."]:
            self.assertFalse(is_sentence(text), text)


class ProseSet(InFolder):
    def test_the_program_reads_what_is_written(self):
        self.write_pages()
        made = self.make("prose")
        for unit, count in {"documents": 40, "sentences": 81}.items():
            self.assertEqual(made["train"][unit] + made["val"][unit], count)
        self.assertEqual([file["reason"] for file in made["left_out"]], ["byte 6 is not UTF-8"])
        self.assertEqual(made["sources"][0]["package"], "debian-faq")
        self.assertEqual(json.loads((self.folder / "out/data.json").read_text()), made)
        self.assertEqual(self.lines("out/train.txt").count(""), made["train"]["documents"] - 1)
        self.assertGreater(self.check("pretraining_text", "--length", "32")["train"]["samples"], 0)
        self.assertGreater(self.check("packed_text", "--length", "32")["val"]["samples"], 0)

    def test_no_sentence_is_in_both_splits(self):
        self.write_pages()
        self.make("prose")
        val = self.lines("out/val.txt")
        self.assertGreater(len(val), 1)
        self.assertLessEqual(set(val) & set(self.lines("out/train.txt")), {""})

    def test_nothing_is_left_behind_when_it_fails(self):
        self.write_pages()
        one = self.make("prose", "one")
        self.assertEqual(self.make("prose", "two")["content_sha256"], one["content_sha256"])
        (self.folder / "empty").mkdir()
        for name in ("prose", "cloze"):
            with self.assertRaisesRegex(SetError, "gives 0 pages of English text for training"):
                self.make(name, source="empty")
        with self.assertRaisesRegex(SetError, "exists and is not empty"):
            self.make("prose", "one")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["empty", "in", "one", "two"])


class ClozeSet(InFolder):
    def test_the_words_behind_a_determiner_are_asked_for(self):
        asked = set()
        for ending in ["", *(f" {i}" for i in range(1, 9))]:
            sentence = "The boot loader of this machine reads a file." + ending
            [question] = questions_on([sentence])["qas"]
            [answer] = question["answers"]
            self.assertEqual(sentence.index(answer["text"]), answer["answer_start"])
            self.assertEqual(question["question"].replace(ASKED_FOR, answer["text"]), sentence)
            asked.add(answer["text"])
        self.assertEqual(asked, {"boot loader", "machine reads", "file"})

    def test_what_is_no_short_phrase_or_comes_twice_is_not_asked_for(self):
        for text in ["Nothing here is asked for.", "See the a/b path.", "See the one two three four five."]:
            self.assertIsNone(answer_in(text, text), text)
        self.assertIsNone(answer_in("Read the file.", "Read the file. Then close the file."))
        self.assertEqual(answer_in("Read the file.", "Read the file. Then close it."), "file")

    def test_the_program_reads_what_is_written(self):
        self.write_pages()
        made = self.make("cloze")
        train, val = made["train"], made["val"]
        self.assertEqual(train["contexts"] + val["contexts"], 40)  # a sentence alone is no context
        self.assertGreaterEqual(train["questions"], train["contexts"])
        for file, split in {"train-v1.1.json": train, "dev-v1.1.json": val}.items():
            articles = json.loads((self.folder / "out" / file).read_text())["data"]
            contexts = [context for article in articles for context in article["paragraphs"]]
            self.assertEqual(sum(len(context["qas"]) for context in contexts), split["questions"])
            for context in contexts:
                for question in context["qas"]:
                    [answer] = question["answers"]
                    self.assertTrue(context["context"].startswith(answer["text"], answer["answer_start"]))
                    self.assertIn(ASKED_FOR, question["question"])
        splits = self.check("squad")
        self.assertEqual([splits[split]["samples"] for split in ("train", "val")],
                         [train["questions"], val["questions"]])


class Bytes(InFolder):
    def test_small_sources_give_the_same_bytes_everywhere(self):
        self.write_catalogue("a.mo", many(200))
        self.write_pages()
        for name, sha256 in FROM_SMALL_SOURCES.items():
            options = {"language": "de"} if name == "messages" else {}
            self.assertEqual(self.make(name, name, **options)["content_sha256"], sha256, name)

    def test_the_packages_give_the_same_bytes_everywhere(self):
        source = self.folder / "packages"
        for line in (ROOT / "deps/debian.txt").read_text().splitlines():
            group, package, *locked = line.split()
            if group not in ("messages", "prose"):
                continue
            deb = CACHE / "debs" / f"{package}.deb"
            if not deb.exists() or not shutil.which("dpkg-deb"):
                self.skipTest(f"{deb} is not there or cannot be unpacked")
            self.assertEqual(hashlib.sha256(deb.read_bytes()).hexdigest(), locked[1])
            subprocess.run(["dpkg-deb", "-x", deb, self.path(f"packages/{group}/{package}")], check=True)
        for name, sha256 in FROM_PACKAGES.items():
            kind, _, language = name.partition("-")
            folder = "packages/messages" if language else "packages/prose"
            made = self.make(kind, name, folder, **({"language": language} if language else {}))
            self.assertEqual((made["content_sha256"], made["left_out"]), (sha256, []), name)


class Program(InFolder):
    def run_program(self, *words):
        words = [sys.executable, make_text_set.__file__, *words]
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_it_says_what_it_made_and_left_out(self):
        self.write_pages()
        said = self.run_program("prose", "--source", self.folder / "in", "--out", self.folder / "out")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertRegex(said.stdout, r"^\d+ sentences of \d+ words for training, .* bytes, content [0-9a-f]{16}\n$")
        self.assertRegex(said.stderr, r"^left out: .*bad.html: byte 6 is not UTF-8\n$")

    def test_its_exit_tells_wrong_usage_from_a_failure(self):
        failed = self.run_program("cloze", "--source", self.folder / "none", "--out", self.folder / "out")
        self.assertEqual((failed.returncode, failed.stdout), (1, ""))
        self.assertEqual(failed.stderr, f"make_text_set.py: cannot read folder {self.folder}/none\n")
        for words in ([], ["poems"], ["prose", "--out", "x"], ["prose", "--language", "de"]):
            self.assertEqual(self.run_program(*words).returncode, 2, words)


if __name__ == "__main__":
    unittest.main()
