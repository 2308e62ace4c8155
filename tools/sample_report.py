#!/usr/bin/env python3
"""The sample report of the documentation, from a result set: docs/sample-report.md and its pictures.

    tools/sample_report.py RESULTS

Writes the report of RESULTS with ./tbd, draws each of its figures in headless Chromium, and turns its sections into
Markdown. Refuses to write a page that names this machine, its user or a path of it.
"""
import argparse
import getpass
import html.parser
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures/sample"
MOST_ROWS = 12  # of a table that is shown
# Of these chapters so many sections are shown.
CHAPTERS = {"Summary": 2, "ResNet-50 v1.5": 5, "Where time goes": 1, "Why frameworks differ": 1, "Memory": 1}
WIDTH = 860  # of pictures, pixels
HEAD = """# A sample report

Parts of the report of the first command below, on a shared two-core machine. The whole report is one HTML file with
live charts, a CSV file behind each of them and a dark form; it also has chapters on {chapters}. Two commands make it
(`{results}/report.html`) and this page:

```sh
{command}
tools/sample_report.py {results} --run '{run}'
```

How the thirteen observations of the paper are judged: [observations.md](observations.md).
"""


def shown(blocks):
    """The chapters of CHAPTERS, shortened, and the names of the others. A block is a heading, paragraph, figure or table."""
    out, others, left = [], [], 0
    in_section = False
    for block in blocks:
        if block.startswith("## "):
            left = CHAPTERS.get(block[3:], 0)
            in_section = left > 0
            (out if in_section else others).append(block if in_section else block[3:])
        elif block.startswith("### "):
            in_section = left > 0
            left -= 1
            if in_section:
                out.append(block)
        elif in_section and block.count("\n") <= MOST_ROWS + 1:
            out.append(block)
        elif in_section and out[-1].startswith("**"):
            out.pop()  # the caption of a table that is too long
    return out, others[1:]  # the first is the title


class Markdown(html.parser.HTMLParser):
    """Sections of a report as Markdown; figures become pictures named by their id."""

    SKIPPED = {"script", "style", "nav", "button", "noscript", "head", "svg"}

    def __init__(self):
        super().__init__()
        self.out, self.text, self.figures = [], [], []
        self.skipped, self.table, self.row, self.in_header = 0, None, None, False

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in self.SKIPPED:
            self.skipped += 1
        elif tag == "div" and "plot" in attrs.get("class", "").split():
            self.flush()
            self.figures.append(attrs["id"])
            self.out.append(f"![{attrs.get('aria-label', '')}](pictures/sample/{attrs['id']}.png)")
        elif tag == "table":
            self.flush()
            self.table = []
        elif tag == "tr":
            self.row = []
        elif tag in ("td", "th"):
            self.text = []
        elif tag in ("h1", "h2", "h3", "h4", "p", "li", "figcaption", "summary", "dt", "dd", "section"):
            self.flush()
        elif tag == "code":
            self.text.append("`")
        elif tag in ("br", "span", "small", "div"):
            self.text.append(" ")

    def handle_endtag(self, tag):
        if tag in self.SKIPPED:
            self.skipped = max(0, self.skipped - 1)
        elif tag in ("td", "th") and self.row is not None:
            self.row.append(" ".join("".join(self.text).split()).replace("|", "\\|"))
            self.text = []
        elif tag == "tr" and self.table is not None:
            self.table.append(self.row or [])
            self.row = None
        elif tag == "caption":
            self.flush("**", "**")
        elif tag == "table":
            self.write_table()
        elif tag in ("h1", "h2", "h3", "h4"):
            self.flush("#" * (int(tag[1])) + " " if tag != "h1" else "## ")
        elif tag == "figcaption":
            self.flush("*", "*")
        elif tag == "li":
            self.flush("- ")
        elif tag == "dt":
            self.flush("**", "**")
        elif tag == "summary":
            self.text = []
        elif tag == "dd" and self.out and self.out[-1].startswith("**"):
            self.out[-1] += " " + " ".join("".join(self.text).split())
            self.text = []
        elif tag in ("p", "dd", "section", "header", "footer"):
            self.flush()
        elif tag == "code":
            self.text.append("`")

    def handle_data(self, data):
        if not self.skipped:
            self.text.append(data)

    def flush(self, before="", after=""):
        text = " ".join("".join(self.text).split())
        self.text = []
        if text:
            self.out.append(before + text + after)

    def write_table(self):
        rows, self.table = [row for row in self.table if row], None
        if not rows:
            return
        lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
        lines += ["| " + " | ".join(row) + " |" for row in rows[1:]]
        self.out.append("\n".join(lines))


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    sys.exit("sample_report: no Chromium on the PATH: ./test --yes installs one")


def browse(page, size, *more):
    """What headless Chromium prints of the page's text in a window of this size."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(page)
        command = [chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
                   "--hide-scrollbars", f"--window-size={size[0]},{size[1]}", "--virtual-time-budget=8000", *more]
        for attempt in range(3):  # a browser that hangs is started again
            try:
                return subprocess.run(command + [file.as_uri()], check=True, capture_output=True, text=True,
                                      timeout=90).stdout
            except subprocess.TimeoutExpired:
                print(f"sample_report: the browser hung, attempt {attempt + 1}", file=sys.stderr)
        sys.exit("sample_report: the browser does not end")


def heights(page):
    """Of every figure as it is drawn, in pixels, by id."""
    found = re.findall(r'<div class="plot[^"]*" id="([^"]+)"[^>]*style="[^"]*height: (\d+)px', browse(page, (WIDTH, 800), "--dump-dom"))
    return {name: int(height) for name, height in found}


def alone(page, figure):
    """The page with the data of this figure only: the others are not drawn."""
    opening = 'id="tbd-data">'
    begin = page.index(opening) + len(opening)
    end = page.index("</script>", begin)
    charts = [chart for chart in json.loads(page[begin:end]) if chart["id"] == figure]
    return page[:begin] + json.dumps(charts).replace("<", "\\u003c") + page[end:]


def draw(page, figure, height, out):
    """The figure alone, on a page as wide as a column of text."""
    style = ("<style>body>header,body>nav,body>footer,main section>*,main section{display:none!important}"
             f"main section:has(#{figure}),main section *:has(#{figure})"
             "{display:block!important;margin:0!important;padding:0!important;border:0!important}"
             f"figure:not(:has(#{figure})),figure figcaption,figure h3,figure details,figure button{{display:none!important}}"
             "body,main{margin:0!important;padding:0!important;max-width:none!important}</style></head>")
    browse(alone(page, figure).replace("</head>", style, 1), (WIDTH, height + 12), f"--screenshot={out}")


def draw_all(page, figures):
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    drawn = heights(page)
    for figure in figures:
        draw(page, figure, drawn[figure], PICTURES / f"{figure}.png")


def private_words():
    words = {socket.gethostname(), str(Path.home()), str(ROOT), os.environ.get("TMPDIR", "/tmp/")}
    words.add(f"/{getpass.getuser()}/")
    return [word for word in words if len(word) > 3]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="folder of records, as tbd run wrote it")
    parser.add_argument("--run", default="--plan plans/paper.plan --budget 30m",
                        help="what tbd run was told besides --out [%(default)s]")
    parser.add_argument("--text-only", action="store_true", help="keep the pictures that are there")
    parser.add_argument("--tbd", default=ROOT / "tbd", help="the program [./tbd]")
    options = parser.parse_args()
    results = Path(options.results).resolve()
    page = results / "report.html"
    subprocess.run([options.tbd, "report", results.name, "--out", page], check=True, cwd=results.parent)
    text = page.read_text()
    markdown = Markdown()
    markdown.feed(text)
    markdown.flush()
    name = f"results/{results.name}"
    blocks, others = shown(markdown.out)
    command = f"./tbd run {options.run} --out {name}"
    head = HEAD.format(command=command, run=options.run, results=name, chapters=", ".join(others))
    body = head + "\n" + "\n\n".join(blocks) + "\n"
    figures = [figure for figure in markdown.figures if f"/{figure}.png" in body]
    found = [word for word in private_words() if word in body]
    if found:
        sys.exit(f"sample_report: the report names {', '.join(found)}: not written")
    if not options.text_only:
        draw_all(text, figures)
    (ROOT / "docs/sample-report.md").write_text(body)
    print(f"docs/sample-report.md: {len(body)} bytes, {len(figures)} pictures")


if __name__ == "__main__":
    main()
