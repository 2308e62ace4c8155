#!/usr/bin/env python3
"""No model's name is logic: what is true of a network is in its Model (src/models) and travels in the record.

  check_model_names.py [--source DIR]    one line per fault on stdout; exit 1 when there is one

A fault is a model's name as a text of its own, "resnet50", in a source file that is no test, outside of src/models and
of the tables below.
"""
import argparse
import re
import sys
from pathlib import Path

# Data that are about networks by name, each with what it is.
TABLES = {
    "src/analysis/then/printed_values.cc": "rows of the paper's tables",
    "src/analysis/then/printed_values.h": "which network the paper's tables of kernels are of",
    "src/cli/quickstart.cc": "which network quickstart trains",
    "src/data/known_sets.cc": "which networks a data set is for",
}
SAMPLES = re.compile(r"(_test\.cc|/(sample|testing)_\w+\.h)$")  # of tests


def model_names(root):
    return {f.stem for f in (root / "src/models").glob("*.cc") if not f.stem.endswith("_test") and f.stem != "model"}


def faults(root):
    names = model_names(root)
    text = re.compile(r'"(' + "|".join(sorted(names)) + r')"')
    for path in sorted((root / "src").rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".cc", ".h") or name.startswith("src/models/") or SAMPLES.search(name) or name in TABLES:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("//")[0]
            for found in text.finditer(code):
                yield f"{name}:{number}: '{found.group(1)}' is a model's name: put the fact into its Model (src/models)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parent.parent)
    found = list(faults(parser.parse_args().source))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
