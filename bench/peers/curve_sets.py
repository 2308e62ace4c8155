"""The small real sets as Python programs read them: batches to train on, and metrics of the held-out part.

Samples and metrics are those of tbd (docs/data.md, docs/training.md); order, crops and masks are drawn by torch.
"""

import collections
import math

import sacrebleu
import torch
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset
from torchvision import transforms
from torchvision.datasets import ImageFolder

import beam_search


def shuffled(samples, batch):
    return DataLoader(samples, batch, shuffle=True, drop_last=True)


class Photos:
    """A folder a class: random crops and flips, of held-out images the centre."""

    def __init__(self, folder, network, batch, size):
        numbers = [transforms.ToTensor(), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]
        training = [transforms.RandomResizedCrop(size), transforms.RandomHorizontalFlip(), *numbers]
        held_out = [transforms.Resize(round(size * 256 / 224)), transforms.CenterCrop(size), *numbers]
        self.training = shuffled(ImageFolder(folder / "train", transforms.Compose(training)), batch)
        self.held_out = DataLoader(ImageFolder(folder / "val", transforms.Compose(held_out)), batch)
        self.resolution = {"top1": 1 / len(self.held_out.dataset)}

    def batch(self, loaded):
        image, label = loaded
        return {"image": image.contiguous(memory_format=torch.channels_last), "label": label}

    def evaluate(self, recipe, network):
        right = loss = 0
        for batch in map(self.batch, self.held_out):
            logits = network(batch["image"])
            right += (logits.argmax(1) == batch["label"]).sum().item()
            loss += functional.cross_entropy(logits, batch["label"], reduction="sum").item()
        samples = len(self.held_out.dataset)
        return {"top1": right / samples, "loss": loss / samples}


class Prose:
    """Bytes of documents, each with an end, in rows."""

    resolution = {}

    def __init__(self, folder, network, batch):
        self.length, self.end = network.config.max_position_embeddings, network.config.vocab_size - 1
        self.training = shuffled(self.rows(folder / "train.txt"), batch)
        self.held_out = DataLoader(self.rows(folder / "val.txt"), batch)

    def rows(self, file):
        documents = [document.strip("\n") for document in file.read_text().split("\n\n")]
        tokens = [token for document in documents if document for token in (*document.encode(), self.end)]
        count = len(tokens) // (self.length + 1)
        return TensorDataset(torch.tensor(tokens[:count * (self.length + 1)]).view(count, -1))

    def batch(self, loaded):
        return {"ids": loaded[0][:, :-1], "labels": loaded[0][:, 1:]}

    def evaluate(self, recipe, network):
        nats = sum(recipe.loss(network, batch).item() * batch["labels"].numel()
                   for batch in map(self.batch, self.held_out))
        loss = nats / (len(self.held_out.dataset) * self.length)
        return {"perplexity": math.exp(loss), "loss": loss}


class Pairs:
    """Sentences of two languages from one bucket, by the most frequent words of the training part."""

    BEGIN, PAD, END, UNKNOWN = range(4)  # of fairseq
    resolution = {}

    def __init__(self, folder, network, batch):
        lines = {part: [(folder / f"{part}.{language}").read_text().splitlines() for language in self.LANGUAGES]
                 for part in ("train", "val")}
        self.words = self.vocabularies(network, lines["train"])
        self.ids = [{word: 4 + place for place, word in enumerate(words)} for words in self.words]
        pairs = {part: [pair for pair in zip(*lines[part]) if self.is_held(*pair)] for part in lines}
        self.training = shuffled(self.tensors(pairs["train"]), batch)
        self.held_out = DataLoader(self.tensors(pairs["val"]), batch)
        self.references = [target for _, target in pairs["val"]]

    def most_frequent(self, lines, rows):
        counts = collections.Counter(word for line in lines for word in line.split())
        return sorted(counts, key=lambda word: (-counts[word], word.encode()))[:rows - 4]

    def is_held(self, source, target):
        below, most = self.BUCKET
        said = source.strip() not in ("", ".") and target.strip() not in ("", ".")
        return said and below < max(len(source.split()), len(target.split()) + 1) <= most

    def tensors(self, pairs):
        source, before, behind = [], [], []
        for pair in pairs:
            words, translation = ([ids.get(word, self.UNKNOWN) for word in line.split()]
                                  for ids, line in zip(self.ids, pair))
            for rows, row in ((source, words), (before, [self.END, *translation]), (behind, [*translation, self.END])):
                rows.append(row + [self.PAD] * (self.BUCKET[1] - len(row)))
        return TensorDataset(*map(torch.tensor, (source, before, behind)))

    def batch(self, loaded):
        batch = dict(zip(("src", "tgt_in", "tgt_out"), loaded))
        return batch | {"src_len": (batch["src"] != self.PAD).sum(1)}

    def evaluate(self, recipe, network):
        nats = words = 0
        for batch in map(self.batch, self.held_out):
            nats += functional.cross_entropy(network(batch).flatten(0, 1), batch["tgt_out"].flatten(),
                                             ignore_index=self.PAD, reduction="sum").item()
            words += (batch["tgt_out"] != self.PAD).sum().item()
        return {"perplexity": math.exp(nats / words)}


class Vietnamese(Pairs):
    """With a vocabulary for each language."""

    LANGUAGES, BUCKET = ("en", "vi"), (10, 20)  # tokens that the bucket before this one holds, and this one

    def vocabularies(self, network, lines):
        rows = [side.embed_tokens.num_embeddings for side in (network.encoder, network.decoder)]
        return [self.most_frequent(*side) for side in zip(lines, rows)]


class German(Pairs):
    """With one vocabulary; some of the sentences are translated."""

    LANGUAGES, BUCKET = ("en", "de"), (16, 24)
    LONGER, SENTENCES = 50, 64  # tokens that a translation may have more than its source; translations of an evaluation

    def vocabularies(self, network, lines):
        return [self.most_frequent([*lines[0], *lines[1]], network.encoder.embed_tokens.num_embeddings)] * 2

    def evaluate(self, recipe, network):
        sources = self.held_out.dataset.tensors[0][:self.SENTENCES]
        translations = [self.translate(network, source) for source in sources]
        bleu = sacrebleu.corpus_bleu(translations, [self.references[:self.SENTENCES]], force=True).score
        return {"bleu": bleu} | super().evaluate(recipe, network)

    def translate(self, network, source):
        def next_scores(prefixes):
            asked = torch.tensor([[self.END, *prefix] for prefix in prefixes])
            scores = network({"src": source.expand(len(prefixes), -1), "tgt_in": asked})[:, -1]
            scores[:, [self.BEGIN, self.PAD]] = -math.inf
            scores[:, 4 + len(self.words[1]):] = -math.inf
            return scores

        longest = min(self.BUCKET[1], int((source != self.PAD).sum()) + self.LONGER)
        tokens = beam_search.translate(next_scores, longest, self.END)
        return " ".join(self.word(token) for token in tokens if token != self.END)

    def word(self, token):
        return "<unk>" if token == self.UNKNOWN else self.words[1][token - 4]
