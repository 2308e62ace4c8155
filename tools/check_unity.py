#!/usr/bin/env python3
"""Keeps each module of src/ fit for a unity build, which compiles several of its files as one.

  check_unity.py [--source DIR]    one line per fault on stdout; exit 1 when there is one

In such a build the nameless namespaces of the files are one. A name that two of them declare does not compile, or a call
silently picks the other file's overload; one that hides a function of a header breaks or changes the files after it.
Two headers that give a type of one name a body are a fault in any build.
A module is a first folder below src/, or a folder of src/backends; its tests are joined as well, apart from its sources.
The check reads formatted code: what begins in the first column of a line is at namespace level.
"""
import argparse
import re
import sys
from pathlib import Path

# Each model is written, and compiled, alone; their tests are joined.
ALONE = {"models"}
# Overloads that templates find by their argument's type: one for each struct.
FOUND_BY_TYPE = {"fields"}

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
RAW_STRING = re.compile(r'R"([^(\s]*)\(.*?\)\1"', re.DOTALL)
STRING_OR_COMMENT = re.compile(r'"(\\.|[^"\\])*"|//.*')
HEAD_END = re.compile(r"[;{]|(?<![=!<>])=(?!=)")
ANGLES = re.compile(r"<[^<>]*>")
BRACES = re.compile(r"\{[^{}]*\}|\([^()]*\)")
BEFORE_NAME = re.compile(r"\[\[.*?\]\]|__attribute__\(\(.*?\)\)+(?= )|\balignas\(.*?\)|^ *template\b|^ *requires [\w:]+(?= )")
NOTHING_NEW = re.compile(r"(?:using namespace|friend|static_assert|extern|public|protected|private|class|struct)\b(?! \w)")
TYPE = re.compile(r"(?:struct|class|union|enum|enum class) ([\w:]+)(?: final)?(?: ?: .*)?$")
ALIAS = re.compile(r"using (\w+)$")
FUNCTION = re.compile(r"\w.*[\s&*](\w+)\($")
VARIABLE = re.compile(r"(?!namespace|using)\w.*[\s&*](\w+)(?: ?\[.*\])*$")
FURTHER_VARIABLE = re.compile(r"\s*\*?(\w+)(?:\[.*\])?\s*(?:=.*)?$")


def without(pattern, text):
    while pattern.search(text):
        text = pattern.sub(" ", text)
    return text


def split_head(statement):
    """What comes before the body or value of a declaration, and whether that has begun."""
    parts = HEAD_END.split(without(ANGLES, statement.replace("->", "")), maxsplit=1)
    return " ".join(BEFORE_NAME.sub(" ", parts[0]).split()), len(parts) > 1


def names_in(statement):
    """The names that a statement adds to its namespace; none for members, operators and other scopes."""
    head, _ = split_head(statement)
    if NOTHING_NEW.match(head) or "operator" in head:
        return []
    if "(" in head:
        found = FUNCTION.match(head[: head.index("(") + 1])
        return [found[1]] if found else []
    if TYPE.match(head):
        name = TYPE.match(head)[1]
        return [] if "::" in name else [name]
    if ALIAS.match(head):
        return [ALIAS.match(head)[1]] if "=" in statement else []
    if not VARIABLE.match(head):
        return []
    plain = without(BRACES, without(ANGLES, statement.replace("->", "")))
    further = [FURTHER_VARIABLE.match(part) for part in plain.rstrip("; ").split(",")[1:]]
    return [VARIABLE.match(head)[1], *(each[1] for each in further if each)]


def is_complete(statement):
    """Whether the name can be told: for variables at the end, since more may follow the first."""
    head, ended = split_head(statement)
    if not ended:
        return head.endswith(":")  # of an access
    return statement.endswith(";") or "(" in head or not VARIABLE.match(head) or TYPE.match(head)


def is_private(statement):
    """Of one outside of nameless namespaces: static, or a constant, which is static without saying so."""
    return statement.startswith("static ") or (statement.startswith(("const ", "constexpr ")) and "(" not in split_head(statement)[0])


def declarations(text):
    """Yields (line number, name, whether only this file sees it) of what a file declares at namespace level."""
    text = RAW_STRING.sub(lambda string: '""' + "\n" * string[0].count("\n"), text)
    opened = 0  # the line of a nameless namespace that is open
    begin, statement = 0, ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = STRING_OR_COMMENT.sub(lambda found: '""' if found[0][0] == '"' else "", raw).rstrip()
        if raw == "namespace {":
            opened = number
        elif raw == "}  // namespace" or (raw == "}" and opened and number == opened + 2):
            opened = 0
        elif not line or line[0] == "#":
            continue
        elif statement or re.match(r"[\w:\[]", line):
            begin = begin if statement else number
            statement = f"{statement} {line}".strip()
            if is_complete(statement):
                for name in names_in(statement):
                    yield begin, name, opened > 0 or is_private(statement)
                statement = ""


TYPE_WITH_BODY = re.compile(r"^(?:struct|class|union|enum|enum class) (\w+)(?: final)?(?: ?:(?!:)[^;{]*)?\s*\{", re.MULTILINE)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)


def types_of(text):
    """Yields (line number, name with its namespace) of the types that a header with one namespace gives a body."""
    namespaces = set(NAMESPACE.findall(text))
    if len(namespaces) == 1:
        for found in TYPE_WITH_BODY.finditer(text):
            yield text.count("\n", 0, found.start()) + 1, f"{min(namespaces)}::{found[1]}"


def module_of(path):
    """path is relative to src/."""
    folders = path.split("/")
    return "/".join(folders[:2]) if folders[0] == "backends" else folders[0]


def headers_of(sources, files):
    """Headers that sources reach by their includes, those of their own module first."""
    reached, waiting = set(), list(sources)
    while waiting:
        for header in INCLUDE.findall(files[waiting.pop()]):
            if header in files and header not in reached:
                reached.add(header)
                waiting.append(header)
    return sorted(reached, key=lambda path: (module_of(path) != module_of(sources[0]), path))


def joined(files):
    """The groups of files that are compiled as one: the sources of each module, and its tests."""
    groups = {}
    for path in sorted(files):
        tests = path.endswith("_test.cc")
        if path.endswith(".cc") and (tests or module_of(path) not in ALONE):
            groups.setdefault((module_of(path), tests), []).append(path)
    return [groups[each] for each in sorted(groups)]


def faults_of(files):
    """files: the text by path relative to src/. Yields (path, line number, what is wrong)."""
    declared = {path: list(declarations(text)) for path, text in sorted(files.items())}
    for sources in joined(files):
        kind = "tests" if sources[0].endswith("_test.cc") else "files"
        seen_by_all = {}
        for header in headers_of(sources, files):
            for _, name, _ in declared[header]:
                seen_by_all.setdefault(name, header)
        places = {}  # of names that only their file sees
        for path in sources:
            for line, name, private in declared[path]:
                if private and name not in FOUND_BY_TYPE:
                    places.setdefault(name, {}).setdefault(path, line)
        for name, lines in places.items():
            for path, line in lines.items():
                other = next((each for each in lines if each != path), seen_by_all.get(name))
                if other:
                    yield path, line, f"'{name}' is also in src/{other}: unity builds join the {kind} of a module"


def doubled_types(files):
    """Two types of one name: one program must not have them, whether files are joined or not. Yields as faults_of."""
    first = {}
    for path, text in sorted(files.items()):
        if path.endswith(".h"):
            for line, name in types_of(text):
                if first.setdefault(name, path) != path:
                    yield path, line, f"'{name}' is another type in src/{first[name]}"


def read(source):
    files = [path for path in source.rglob("*") if path.suffix in (".h", ".cc")]
    return {path.relative_to(source).as_posix(): path.read_text(encoding="utf-8") for path in files}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parent.parent / "src")
    options = parser.parse_args()
    files = read(options.source)
    faults = sorted([*faults_of(files), *doubled_types(files)])
    for path, line, fault in faults:
        print(f"src/{path}:{line}: {fault}")
    if faults:
        sys.exit(1)


if __name__ == "__main__":
    main()
