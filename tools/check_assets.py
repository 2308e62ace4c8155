#!/usr/bin/env python3
"""Lints the script and the style sheets of the report, and keeps their code out of C++ strings.

  check_assets.py [--source DIR]    one line per fault on stdout; exit 1 when there is one

JavaScript is parsed by `node --check` where Node.js is on this machine. The other rules are checked everywhere.
"""
import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

BANNED_SCRIPT = {
    r"\bvar\s": "declares with var: use const or let",
    r"(?<![=!])==(?!=)|!=(?!=)": "compares with conversion: use === or !==",
    r"\beval\s*\(|\bnew Function\b|\bdocument\.write\b": "runs text as code",
    r"\binnerHTML\b|\bouterHTML\b|\binsertAdjacentHTML\b": "makes markup of text",
}
STRING_OR_COMMENT = re.compile(r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|//[^\n]*|/\*.*?\*/", re.DOTALL)
CODE_IN_STRING = {
    r'R"(?:js|css)\(': "holds a script or a style sheet: put it into assets/",
    r"<script[^>]*>\s*[^\s<\\\"]": "holds a script: put it into assets/",
    r"\bon(?:click|load|change)=": "holds a handler: put it into assets/",
    r'"[^"\n]*[\w)\]]\s*\{\s*[a-z-]+\s*:[^"\n]*;': "holds a style rule: put it into assets/",
}


def lines_with(pattern, text):
    return [text.count("\n", 0, found.start()) + 1 for found in re.finditer(pattern, text)]


def without_strings(text):
    """The same lines, their strings and comments blank."""
    return STRING_OR_COMMENT.sub(lambda found: "\n" * found[0].count("\n") or "''", text)


def script_faults(text):
    if "'use strict';" not in text:
        yield 1, "does not begin with 'use strict'"
    code = without_strings(text)
    for pattern, fault in BANNED_SCRIPT.items():
        for line in lines_with(pattern, code):
            yield line, fault


def style_faults(text, used_in):
    """used_in: the texts in which a class must be named that a rule is for."""
    code = without_strings(text)
    if code.count("{") != code.count("}"):
        yield 1, f"has {code.count('{')} opening braces and {code.count('}')} closing ones"
    selectors = re.sub(r"\{[^{}]*\}", lambda rule: "\n" * rule[0].count("\n"), code)
    for found in re.finditer(r"\.([a-zA-Z][\w-]*)", selectors):
        if not re.search(rf"(?<![\w-]){re.escape(found[1])}(?![\w-])", used_in):
            yield selectors.count("\n", 0, found.start()) + 1, f"nothing has the class '{found[1]}'"


def undefined_names(styles):
    """Custom properties that some sheet reads and none defines."""
    together = "\n".join(styles)
    return sorted(set(re.findall(r"var\((--[\w-]+)", together)) - set(re.findall(r"(--[\w-]+)\s*:", together)))


def string_faults(text):
    for pattern, fault in CODE_IN_STRING.items():
        for line in lines_with(pattern, text):
            yield line, fault


def syntax_faults(path):
    node = shutil.which("node")
    if not node:
        return
    done = subprocess.run([node, "--check", str(path)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        yield 1, " ".join(done.stderr.split())


def check(source):
    report = source / "report"
    assets = sorted((report / "assets").iterdir())
    code = {path: path.read_text(encoding="utf-8") for path in sorted(report.glob("*")) if path.suffix in (".cc", ".h")}
    scripts = {path: path.read_text(encoding="utf-8") for path in assets if path.suffix == ".js"}
    styles = {path: path.read_text(encoding="utf-8") for path in assets if path.suffix == ".css"}
    tables = [path.read_text(encoding="utf-8") for path in sorted((source / "analysis").glob("*.cc"))]
    # Plotly's own class is none of ours.
    used_in = "\n".join([*code.values(), *scripts.values(), *tables, "modebar-container"])
    faults = []
    for path, text in scripts.items():
        faults += [(path, *fault) for fault in [*script_faults(text), *syntax_faults(path)]]
    for path, text in styles.items():
        faults += [(path, *fault) for fault in style_faults(text, used_in)]
    faults += [(report / "assets", 0, f"no sheet defines {name}") for name in undefined_names(styles.values())]
    for path, text in code.items():
        if not path.name.endswith("_test.cc"):
            faults += [(path, *fault) for fault in string_faults(text)]
    for path, line, fault in faults:
        print(f"src/{path.relative_to(source).as_posix()}:{line}: {fault}")
    return len(faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parent.parent / "src")
    if check(parser.parse_args().source):
        sys.exit(1)


if __name__ == "__main__":
    main()
