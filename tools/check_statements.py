#!/usr/bin/env python3
"""One statement a line: finds statements that commas join.

  check_statements.py [--source DIR] [FOLDER ...]    one line per fault on stdout; exit 1 when there is one

`a = 1, b = 2;` and `return f(), 1;` are found. Declarations (`int a, b;`), the head of a for loop, arguments,
initialisers and lists of members are let through.
"""
import argparse
import re
import sys
from pathlib import Path

ROOTS = ["bench", "fuzz", "src", "tests"]

BLANKED = re.compile(
    r'R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?!\w)|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
    re.DOTALL | re.MULTILINE,
)
TEMPLATE = re.compile(r"(?:(?<=\w)|(?<=template )|(?<=\]))<(?:[\w\s:,*&\[\]().=+-]|<<)*>")
TOKEN = re.compile(r"\w+|::|->|[^\w\s]")
OPENS_LIST = {"=", "(", ",", "{", "return", ":", "?", "[", "&&", "||", "<", "+"}
HEADS = re.compile(r"\s*(?:template\s*)?(?:typedef |static |inline |extern )*(struct|class|enum|union|namespace|extern)\b")
LABEL = re.compile(r"\s*(?:(?:public|private|protected|default)\s*:(?!:)|case\b[^:]*(?:::[^:]*)*:(?!:))")
CONTROL = re.compile(r"\s*(?:else\b|do\b|(?:if(?:\s+constexpr)?|for|while|switch)\s*(?=\())")
EXPRESSION_WORDS = {"return", "throw", "delete", "co_return", "co_yield"}
DECLARES = re.compile(
    r"\s*(?:(?:static|constexpr|const|inline|extern|mutable|thread_local|auto|unsigned|typedef|using|template|struct|class"
    r"|enum|union|friend|virtual|explicit|operator|volatile|namespace|goto)\b|[\w:]+(?:\s*<>)?(?:\s+const)?(?:\s*[*&]+\s*|\s+)"
    r"(?:const\s+)?[A-Za-z_]\w*\s*(?:$|[=({,;\[:]))"
)


def blanked(text):
    """The same text, as long, its strings, comments, directives and template arguments blank."""
    text = BLANKED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    while True:
        shorter = TEMPLATE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        if shorter == text:
            return text
        text = shorter


def closing(text, begin):
    """Where the bracket that opens at `begin` closes."""
    depth = 0
    for at in range(begin, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return len(text) - 1


def body_of(text, begin, end):
    """Where the statement proper begins, behind labels and the heads of if, else and loops; whether it has a head."""
    controlled = False
    while True:
        label = LABEL.match(text, begin, end)
        control = CONTROL.match(text, begin, end)
        if label:
            begin = label.end()
        elif control:
            controlled = True
            begin = control.end()
            if begin < end and text[begin] == "(":
                begin = closing(text, begin) + 1
        else:
            return begin, controlled


class Block:
    def __init__(self, kind, begin):
        self.kind, self.begin, self.commas, self.depth = kind, begin, [], 0


def opens_block(block, text, at, before, previous):
    """Whether the brace at `at` begins statements, not a list of values. previous: the token before it."""
    if previous in (")", ";", "}", "else", "do", "try", "const", "noexcept", "override", "final", "mutable", ""):
        return True
    if previous in OPENS_LIST and not (previous in "{:" and block.depth == 0 and not text[block.begin : at].strip(" \n:")):
        return previous == "{" and block.depth == 0
    if previous == "]":
        return not re.search(r"\w\s*\[[^\[\]]*\]\s*$", text[before:at])
    if HEADS.match(text[block.begin : at]):
        return True
    return bool(re.search(r"\)\s*(?:const\s*)?->\s*[\w:<>,\s*&]+$", text[block.begin : at]))


def joined_statements(source):
    """(begin of the body, positions of the commas, whether a head stands before it, end) of each, in order."""
    text = blanked(source)
    found = []
    stack = [Block("statements", 0)]
    previous = ""
    for token in TOKEN.finditer(text):
        block, at = stack[-1], token.start()
        if token[0] in ("(", "["):
            block.depth += 1
        elif token[0] in (")", "]"):
            block.depth -= 1
        elif token[0] == "{":
            if opens_block(block, text, at, max(block.begin, at - 80), previous):
                is_enum = re.match(r"\s*(?:typedef )?enum\b", text[block.begin : at])
                stack.append(Block("enum" if is_enum else "statements", at + 1))
            else:
                stack.append(Block("list", at + 1))
        elif token[0] == "}":
            if len(stack) > 1:
                closed = stack.pop()
                if closed.kind != "list" and stack[-1].depth == 0:
                    stack[-1].begin, stack[-1].commas = at + 1, []
        elif token[0] == "," and block.kind == "statements" and block.depth == 0:
            block.commas.append(at)
        elif token[0] == ";" and block.depth == 0:
            if block.commas:
                begin, controlled = body_of(text, block.begin, block.commas[0])
                word = re.match(r"\s*(\w*)", text[begin : block.commas[0]])[1]
                if word in EXPRESSION_WORDS or not DECLARES.match(text[begin : block.commas[0]]):
                    found.append((begin, block.commas, controlled, at))
            block.begin, block.commas = at + 1, []
        previous = token[0]
    return found


def faults_of(text):
    """Yields (line number, what is wrong)."""
    for _, commas, _, _ in joined_statements(text):
        yield text.count("\n", 0, commas[0]) + 1, "a comma joins statements: write one a line"


def check(source, folders):
    count = 0
    for folder in folders:
        for path in sorted((source / folder).rglob("*")):
            if path.suffix in (".h", ".cc"):
                for line, fault in faults_of(path.read_text(encoding="utf-8")):
                    print(f"{path.relative_to(source).as_posix()}:{line}: {fault}")
                    count += 1
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="folders of the repository [bench fuzz src tests]")
    options = parser.parse_args()
    if check(options.source, options.folders or ROOTS):
        sys.exit(1)


if __name__ == "__main__":
    main()
