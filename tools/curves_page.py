#!/usr/bin/env python3
"""The measured part of docs/curves.md, and its pictures, from the records of plans/curves.plan.

    tools/curves_page.py RUNS [--tbd PROGRAM]

Draws, of each network, the metric of its goal against steps and against training time, and writes the table of the time
to quality. Of networks that RUNS does not hold, the page keeps its rows and pictures. Refuses to write a page that names
this machine, its user or a path of it.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from sample_report import ROOT, Markdown, draw, heights, private_words

PAGE = ROOT / "docs/curves.md"
PICTURES = ROOT / "docs/pictures/curves"
MEASURED = "## Measured\n"


def goals(table):
    """Network and metric of each row of the table of the time to quality."""
    rows = [line.split(" | ") for line in table.splitlines()[2:]]
    return sorted({(row[0].removeprefix("| "), re.split("[=]", row[2])[0]) for row in rows})


def merged(old, new):
    """The measured part `old` with the rows and the sections of `new` in place of those of the same network."""
    def parts(text):
        table, *sections = re.split("^### ", text.strip(), flags=re.MULTILINE)
        lines = table.strip().splitlines()
        by_network = {}
        for row in lines[2:]:
            by_network.setdefault(row.split(" | ")[0], []).append(row)
        return lines[:2], by_network, {section.splitlines()[0]: section.strip() for section in sections}

    (_, rows, sections), (head, new_rows, new_sections) = parts(old), parts(new)
    rows.update(new_rows)
    sections.update(new_sections)
    table = "\n".join([*head, *(row for network in sorted(rows) for row in rows[network])])
    return "\n\n".join([table, *(f"### {sections[name]}" for name in sorted(sections))])


def figure_of(charts, network, metric, axis):
    title = f"{network}: {metric} against {axis}"
    return next(chart["id"] for chart in charts if chart["title"] == title)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="folder of records, as tbd train --plan wrote it")
    parser.add_argument("--tbd", default=ROOT / "tbd", help="the program [./tbd]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        records = sorted(str(record) for record in options.runs.iterdir())
        subprocess.run([options.tbd, "report", *records, "--out", report], check=True, stdout=subprocess.DEVNULL)
        text = report.read_text()
    markdown = Markdown()
    markdown.feed(text)
    markdown.flush()
    table = markdown.out[markdown.out.index("**Time to quality**") + 1]
    charts = json.loads(text.split('id="tbd-data">', 1)[1].split("</script>", 1)[0])
    drawn = heights(text)
    PICTURES.mkdir(parents=True, exist_ok=True)
    body = [table]
    for network, metric in goals(table):
        body.append(f"### {network}")
        for axis, name in (("steps", "steps"), ("training time", "time")):
            figure = figure_of(charts, network, metric, axis)
            file = f"{network.split()[0]}-{name}.png"
            draw(text, figure, drawn[figure], PICTURES / file)
            body.append(f"![{metric} against {axis}](pictures/curves/{file})")
    found = [word for word in private_words() if word in "\n".join(body)]
    if found:
        sys.exit(f"curves_page: the report names {', '.join(found)}: not written")
    before, old = PAGE.read_text().split(MEASURED, 1)
    PAGE.write_text(before + MEASURED + "\n" + merged(old, "\n\n".join(body)) + "\n")


if __name__ == "__main__":
    main()
