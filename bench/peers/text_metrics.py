"""Task metrics of text: this program against sacrebleu, torchmetrics, torch and Python's str, in numbers and in time.

    python bench/peers/text_metrics.py --bench BUILD/bench/bench_text_metrics [--texts 20000] [--seed 1]
    python bench/peers/text_metrics.py --bench BUILD/bench/bench_text_metrics --speed 5

The first compares all characters, random texts (entities, numbers, signs, line breaks, white space and letters of many
scripts), random corpora, random answers and random logits, and prints how many differ; exit 1 where any does. The second
lets both score a corpus of 3,000 translations in turn: seconds of CPU. Exit 77 without sacrebleu or torch. torchmetrics
(`pip install torchmetrics==1.9.0`) is compared where it is installed: its F1 is 1 where both texts are empty once
normalized, SQuAD v1.1's is 0, so those cases are compared with 0.
"""

import argparse
import importlib
import json
import math
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import unicodedata
from pathlib import Path

try:
    import sacrebleu
    import torch
except ImportError as error:
    print(f"text_metrics: {error}", file=sys.stderr)
    sys.exit(77)
try:
    squad = importlib.import_module("torchmetrics.functional.text.squad")
except ImportError:
    squad = None

TOLERANCE = 1e-9
PARTS = (
    ["&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "<skipped>", "-\n", "\n", "\t", "  ", " ", " ", "\u00a0", "\u2009"]
    + ["\u3000", "\u200b", "\x1c", "\x85", "the", "a", "an", "The", "An", "A", "cat", "Dogs", "U.S.", "1,000", "3.5"]
    + ["2-3", "well-known", "90-", "-5", ".5", "5.", ",", ".", "..", ".,", "?!", "'", "’", "“", "—", "–", "_", "é", "É"]
    + ["ÉCOLE", "İ", "ß", "ẞ", "ΟΔΟΣ", "Σ", "ς", "метро", "МЕТРО", "東京", "。", "٣", "٣.٤", "😀", "\u0301", "ª", "Ⅷ"]
    + list("!\"#$%&()*+/:;<=>?@[\\]^`{|}~")
)


def ours(bench, verb, folder, items):
    path = folder / f"{verb}.json"
    path.write_text(json.dumps(items))
    done = subprocess.run([bench, verb, str(path)], check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def differs(a, b):
    return abs(a - b) > TOLERANCE * max(1, abs(a), abs(b))


def random_text(draw, longest=14):
    return "".join(draw.choice(PARTS) + draw.choice(["", "", " "]) for _ in range(draw.randint(0, longest)))


def count_texts(bench, folder, texts):
    """Texts that Python's str and re treat otherwise."""
    different = 0
    for text, line in zip(texts, ours(bench, "text", folder, texts), strict=True):
        without = re.sub(r"\b(a|an|the)\b", " ", text)
        theirs = {"lower": text.lower(), "words": text.split(), "stripped": text.rstrip(), "without": without}
        different += theirs != line
    return different


def characters():
    """All that are assigned, each alone and beside a sigma, which asks for properties of its neighbours."""
    known = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) not in ("Cn", "Cs")]
    return [f"{c}|a{c}Σ|{c}Σ|aΣ{c}|aΣ{c}a|a{c}" for c in known]


def random_corpus(draw, size):
    corpus = []
    for _ in range(size):
        references = [random_text(draw) for _ in range(draw.choice([1, 1, 2, 3]))]
        text = draw.choice(references)
        words = text.split(" ")
        if words and draw.random() < 0.8:
            words[draw.randrange(len(words))] = draw.choice(PARTS)
            text = " ".join(words)
        corpus.append({"text": draw.choice([text, text, random_text(draw)]), "references": references})
    return corpus


def padded_references(corpus):
    """As sacrebleu takes them: by number, None where a translation has no more."""
    most = max(len(item["references"]) for item in corpus)
    return [[(item["references"] + [None] * most)[i] for item in corpus] for i in range(most)]


def differs_from(theirs, line):
    counts = (list(theirs.counts), list(theirs.totals), theirs.sys_len, theirs.ref_len)
    if counts != (line["correct"], line["total"], line["length"], line["reference_length"]):
        return True
    reals = [(theirs.score, line["score"]), (theirs.bp, line["brevity_penalty"])]
    return any(differs(a, b) for a, b in reals + list(zip(theirs.precisions, line["precisions"], strict=True)))


def count_bleu(bench, folder, corpus):
    tokenize = sacrebleu.BLEU().tokenizer
    sentence, whole = sacrebleu.BLEU(effective_order=True), sacrebleu.BLEU()
    *lines, last = ours(bench, "bleu", folder, corpus)
    different = 0
    for item, line in zip(corpus, lines, strict=True):
        different += tokenize(item["text"].rstrip()) != line["tokens"]
        different += differs_from(sentence.sentence_score(item["text"], item["references"]), line)
    theirs = whole.corpus_score([item["text"] for item in corpus], padded_references(corpus))
    different += differs_from(theirs, last)
    # sacrebleu says 1 or the number of references where all translations have as many, else "var".
    return different + (str(whole.get_signature()) != last["signature"])


def count_squad(bench, folder, questions):
    *lines, last = ours(bench, "squad", folder, questions)
    different, exact, overlap = 0, 0.0, 0.0
    for item, line in zip(questions, lines, strict=True):
        prediction, answers = item["prediction"], item["answers"]
        normalized = squad._normalize_text(prediction)
        matches = [float(squad._compute_exact_match_score(prediction, answer)) for answer in answers]
        f1s = [float(squad._compute_f1_score(prediction, answer)) if squad._normalize_text(answer) else 0.0
               for answer in answers]
        # Theirs are f32.
        different += normalized != line["normalized"] or max(matches) != line["exact_match"]
        different += abs(max(f1s) - line["f1"]) > 1e-6
        exact += max(matches) / len(questions)
        overlap += max(f1s) / len(questions)
    different += differs(100 * exact, last["exact_match"]) or abs(100 * overlap - last["f1"]) > 1e-4
    return different


def count_predictions(bench, folder, draw, count):
    items = []
    for _ in range(count):
        rows, classes = draw.randint(1, 8), draw.randint(6, 30)
        logits = [[round(draw.gauss(0, 3), 2) for _ in range(classes)] for _ in range(rows)]
        items.append({"logits": logits, "labels": [draw.randrange(classes) for _ in range(rows)]})
        if draw.random() < 0.5:
            items[-1]["ignored"] = draw.randrange(classes)
    different = 0
    for item, line in zip(items, ours(bench, "predictions", folder, items), strict=True):
        logits, labels = torch.tensor(item["logits"]).double(), torch.tensor(item["labels"])
        nll = torch.nn.functional.cross_entropy(logits, labels, ignore_index=item.get("ignored", -100), reduction="sum")
        different += differs(float(nll), line["nll"])
        if line["count"]:
            different += differs(math.exp(float(nll) / line["count"]), line["perplexity"])
        if line["ranks"] is None:
            continue
        # A stable sort keeps the lower class of equal ones in front, which topk does not promise.
        order = torch.sort(logits, dim=1, descending=True, stable=True).indices
        ranks = (order == labels[:, None]).int().argmax(1).tolist()
        different += ranks != line["ranks"]
        different += int((logits.argmax(1) == labels).sum()) != line["correct"]
    return different


def compare_speed(bench, folder, rounds):
    draw = random.Random(1)
    words = [f"w{i}" for i in range(4000)]
    corpus = []
    for _ in range(3000):
        reference = [words[int(4000 * draw.random() ** 3)] for _ in range(draw.randint(8, 40))]
        text = [word if draw.random() < 0.7 else draw.choice(words) for word in reference]
        corpus.append({"text": " ".join(text) + ".", "references": [" ".join(reference) + "."]})
    texts, references = [item["text"] for item in corpus], padded_references(corpus)
    times = []
    for _ in range(rounds):
        line = ours(bench, "bleu", folder, corpus)[-1]
        metric = sacrebleu.BLEU()  # anew: its tokenizer remembers lines
        metric.tokenizer.__class__.__call__.cache_clear()
        metric.tokenizer._post_tokenizer.__class__.__call__.cache_clear()
        started = time.process_time()
        theirs = metric.corpus_score(texts, references)
        seconds = time.process_time() - started
        assert not differs_from(theirs, line)
        times.append((line["seconds"], seconds, seconds / line["seconds"]))
        print(f"tbd {line['seconds']:.3f} s, sacrebleu {seconds:.3f} s", flush=True)
    mine, other, ratio = (statistics.median(column) for column in zip(*times))
    print(f"median: {mine:.3f} s against {other:.3f} s, {ratio:.1f} times as fast "
          f"({min(t[2] for t in times):.1f} to {max(t[2] for t in times):.1f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--texts", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=int, default=0, metavar="ROUNDS")
    options = parser.parse_args()
    draw, count = random.Random(options.seed), options.texts
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if options.speed:
            compare_speed(options.bench, folder, options.speed)
            return
        total = 0

        def report(what, different):
            nonlocal total
            total += different
            print(f"{what}: {different} differ", flush=True)

        every = characters()
        report(f"str: {len(every)} characters", count_texts(options.bench, folder, every))
        report(f"str: {count} random texts", count_texts(options.bench, folder, [random_text(draw) for _ in range(count)]))
        different = sum(count_bleu(options.bench, folder, random_corpus(draw, draw.randint(1, 200)))
                        for _ in range(max(1, count // 100)))
        report(f"sacrebleu {sacrebleu.__version__}: {max(1, count // 100)} random corpora", different)
        if squad:
            questions = [{"prediction": random_text(draw, 5), "answers": [random_text(draw, 5) for _ in range(draw.randint(1, 3))]}
                         for _ in range(count)]
            report(f"torchmetrics: {count} random answers", count_squad(options.bench, folder, questions))
        else:
            print("torchmetrics: not installed")
        report(f"torch {torch.__version__}: {count // 10} random sets of logits",
               count_predictions(options.bench, folder, draw, count // 10))
        sys.exit(1 if total else 0)


if __name__ == "__main__":
    main()
