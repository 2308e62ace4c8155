#!/usr/bin/env python3
"""What a trivial answer scores on the held-out part of the small real sets (docs/curves.md): the most frequent class,
byte, word or move of the training part. A network that learns has to do better.

  baselines.py FOLDER   the folder of the small sets, such as ~/.cache/tbd/data
"""
import argparse
import collections
import math
import re
from pathlib import Path


def photos(root):
    counts = {kind: {c.name: len(list(c.iterdir())) for c in (root / kind).iterdir()} for kind in ("train", "val")}
    commonest = max(counts["train"], key=counts["train"].get)
    return "top1", counts["val"][commonest] / sum(counts["val"].values()), "always the most frequent class"


def prose_bytes(root):
    train, held_out = ((root / f"{part}.txt").read_bytes() for part in ("train", "val"))
    counts = collections.Counter(train)
    total = len(train) + 256
    nats = -sum(math.log((counts[byte] + 1) / total) for byte in held_out) / len(held_out)
    return "perplexity", math.exp(nats), "bytes drawn by how often they are in the training part"


def prose_words(root):
    words = [re.findall(r"\w+|[^\w\s]", (root / f"{part}.txt").read_text().lower()) for part in ("train", "val")]
    commonest = collections.Counter(words[0]).most_common(1)[0][0]
    return "mlm_accuracy", words[1].count(commonest) / len(words[1]), f"always '{commonest}'"


def moves(root):
    train, held_out = ([move for game in (root / part).rglob("*.sgf")
                        for move in re.findall(r";[BW]\[([a-s]{0,2})\]", game.read_text(errors="replace"))]
                       for part in ("train", "val"))
    commonest = collections.Counter(train).most_common(1)[0][0]
    return "policy_top1", held_out.count(commonest) / len(held_out), f"always {commonest or 'a pass'}"


def errors(text, reference):
    """Insertions, deletions and substitutions of characters that make one the other."""
    row = list(range(len(reference) + 1))
    for i, letter in enumerate(text, 1):
        diagonal, row[0] = row[0], i
        for j, wanted in enumerate(reference, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != wanted))
    return row[-1]


def spoken(root):
    """The training text that is nearest to all training texts, whatever is said. To say nothing is an error of 1."""
    train, held_out = ([line.split(" ", 1)[1] for file in sorted((root / part).rglob("*.trans.txt"))
                        for line in file.read_text().splitlines()] for part in ("train", "val"))
    train, held_out = ([text for text in texts if len(text) <= 40] for texts in (train, held_out))
    nearest = min(sorted(set(train)), key=lambda text: sum(errors(text, other) for other in train))
    wrong = sum(errors(nearest, other) for other in held_out)
    return "cer", wrong / sum(map(len, held_out)), f"always '{nearest}', of texts of 40 characters at most"


def translated_words(root, languages, rows=2000, longest=19):
    """Words by how often they are in the training part, whatever the source says, as Seq2Seq's `small` reads them: the most
    frequent ones, the others as one word, an end of sentence, and pairs of so many words a side at most."""
    pairs = [[[line.split() for line in (root / f"{part}.{language}").read_text().splitlines()] for language in languages]
             for part in ("train", "val")]
    known = {word for word, _ in collections.Counter(w for line in pairs[0][1] for w in line).most_common(rows - 4)}
    train, held_out = ([word if word in known or not word else None for source, target in zip(*sides)
                        if max(len(source), len(target)) <= longest for word in [*target, ""]]
                       for sides in pairs)
    counts = collections.Counter(train)
    nats = -sum(math.log((counts[word] + 1) / (len(train) + rows)) for word in held_out) / len(held_out)
    return "perplexity", math.exp(nats), "words by how often they are in the training part"


def one_colour(root, draws=8, patches=128, side=7, directions=512):
    """Patch SWD (docs/task-metrics.md) of images of one colour, that of the middle pixel of a training crop; mean of draws."""
    import numpy
    from PIL import Image
    generator = numpy.random.default_rng(0)
    files = {part: sorted((root / f"{part}_16x16").iterdir()) for part in ("train", "valid")}

    def images(part):
        chosen = generator.permutation(len(files[part]))[:128]
        return numpy.stack([numpy.asarray(Image.open(files[part][i]).convert("RGB"), dtype=float) for i in chosen])

    def descriptors(pictures, corners):
        out = numpy.array([picture[y:y + side, x:x + side] for picture, places in zip(pictures, corners) for y, x in places])
        return ((out - out.mean((0, 1, 2))) / out.std((0, 1, 2))).reshape(len(out), -1)

    distances = []
    for _ in range(draws):
        real, crops = images("valid"), images("train")
        flat = numpy.broadcast_to(crops[:, 8:9, 8:9], crops.shape)
        corners = generator.integers(0, 16 - side + 1, (128, patches, 2))
        axes = generator.standard_normal((3 * side * side, directions))
        axes /= numpy.linalg.norm(axes, axis=0)
        ours, theirs = (numpy.sort(descriptors(pictures, corners) @ axes, 0) for pictures in (flat, real))
        distances.append(1000 * numpy.abs(ours - theirs).mean())
    return "patch_swd", float(numpy.mean(distances)), f"images of one colour: {min(distances):.0f} to {max(distances):.0f}"


def copied(root, languages):
    """BLEU of the source itself, for those who take it for a translation."""
    import sacrebleu
    source, target = ((root / f"val.{language}").read_text().splitlines() for language in languages)
    return "bleu", sacrebleu.corpus_bleu(source, [target], force=True).score, "the source, copied"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    root = parser.parse_args().folder
    print(f"{'set':<12} {'metric':<13} {'value':>8}  answer")
    for name, measure in (("photos", photos), ("prose", prose_bytes), ("prose", prose_words), ("games", moves),
                          ("prompts", spoken), ("crops-16", one_colour), ("messages-de", lambda r: copied(r, ("en", "de"))),
                          ("messages-vi", lambda r: copied(r, ("en", "vi"))),
                          ("messages-vi", lambda r: translated_words(r, ("en", "vi")))):
        metric, value, answer = measure(root / name)
        print(f"{name:<12} {metric:<13} {value:8.4f}  {answer}")


if __name__ == "__main__":
    main()
