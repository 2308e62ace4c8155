"""Prose for BERT's pre-training as a Python program makes it: pieces by `tokenizers`, pairs of segments, masks.

The rules are those of docs/data.md (plain text), after google-research/bert's create_pretraining_data.py; what is
random is drawn by Python, so that no sample is one of tbd's.
"""

import collections
import random

import torch
from tokenizers import BertWordPieceTokenizer, normalizers, pre_tokenizers
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

NAMES = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
BEGIN, END, MASK = 2, 3, 4
LONGEST = 100  # characters of a word that has pieces
DUPLICATES, SHORT, MASKED, PREDICTIONS = 5, 0.1, 0.15, 10


def documents_of(file):
    documents = [document.splitlines() for document in file.read_text().split("\n\n")]
    return [lines for lines in ([line.strip() for line in lines if line.strip()] for lines in documents) if lines]


def counted_words(sentences):
    normalizer, cutter = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    counts = collections.Counter(word for sentence in sentences
                                 for word, _ in cutter.pre_tokenize_str(normalizer.normalize_str(sentence)))
    return {word: count for word, count in counts.items() if len(word) <= LONGEST}


def learn_pieces(counts, size):
    """Characters by bytes, then results of merging the most frequent pair, ties by the earlier pieces."""
    spelled = {word: [word[0], *("##" + character for character in word[1:])] for word in counts}
    numbers = {piece: number for number, piece in enumerate(sorted({piece for pieces in spelled.values()
                                                                    for piece in pieces}, key=str.encode))}
    pairs, places = collections.Counter(), collections.defaultdict(set)

    def count(word, sign):
        for pair in zip(spelled[word], spelled[word][1:]):
            pairs[pair] += sign * counts[word]
            places[pair].add(word)

    for word in spelled:
        count(word, 1)
    while len(numbers) < size:
        most = max(pairs.values())
        if most < 2:
            break
        left, right = min((pair for pair, times in pairs.items() if times == most),
                          key=lambda pair: (numbers[pair[0]], numbers[pair[1]]))
        joined = left + right[2:]
        numbers.setdefault(joined, len(numbers))
        for word in places.pop((left, right)):
            count(word, -1)
            spelled[word] = merged(spelled[word], left, right, joined)
            count(word, 1)
        del pairs[left, right]
    return list(numbers)


def merged(pieces, left, right, joined):
    out = []
    for piece in pieces:
        if piece == right and out and out[-1] == left:
            out[-1] = joined
        else:
            out.append(piece)
    return out


class Maker:
    """Draws the samples of a text."""

    def __init__(self, documents, length, words):
        self.documents, self.length, self.words = documents, length, words
        self.room = length - 3  # beside [CLS] and two [SEP]
        self.random = random.Random(torch.initial_seed())

    def samples(self):
        for _ in range(DUPLICATES):
            for document in self.documents:
                yield from map(self.sample, self.pairs(document))

    def pairs(self, document):
        """Segments of a document, the second of which comes next or from elsewhere."""
        first = 0
        while first < len(document):
            target = self.random.randint(2, self.room) if self.random.random() < SHORT else self.room
            chunk = self.gathered(document[first:], target)
            cut = self.random.randint(1, len(chunk) - 1) if len(chunk) > 1 else 1
            segment = sum(chunk[:cut], [])
            is_random = len(chunk) == 1 or self.random.random() < 0.5
            behind = self.elsewhere(document, target - len(segment)) if is_random else chunk[cut:]
            first += cut if is_random else len(chunk)
            yield segment, sum(behind, []), int(is_random)

    def gathered(self, sentences, target):
        chunk = [sentences[0]]
        for sentence in sentences[1:]:
            if sum(map(len, chunk)) >= target:
                break
            chunk.append(sentence)
        return chunk

    def elsewhere(self, document, target):
        for _ in range(10):
            other = self.random.choice(self.documents)
            if other is not document:
                break
        return self.gathered(other[self.random.randrange(len(other)):], target)

    def sample(self, pair):
        segments, is_random = [list(segment) for segment in pair[:2]], pair[2]
        while sum(map(len, segments)) > self.room:
            longer = segments[0] if len(segments[0]) > len(segments[1]) else segments[1]
            longer.pop(0 if self.random.random() < 0.5 else -1)
        tokens = [BEGIN, *segments[0], END, *segments[1], END]
        types = [0] * (len(segments[0]) + 2) + [1] * (len(segments[1]) + 1)
        places, labels = self.mask(tokens, (0, len(segments[0]) + 1, len(tokens) - 1))
        empty = [0] * (self.length - len(tokens))
        unused = [0] * (PREDICTIONS - len(places))
        return (tokens + empty, types + empty, [1] * len(tokens) + empty, places + unused, labels + unused,
                [1.0] * len(places) + unused, is_random)

    def mask(self, tokens, kept):
        count = min(PREDICTIONS, max(1, round(MASKED * len(tokens))))
        places = sorted(self.random.sample(sorted(set(range(len(tokens))) - set(kept)), count))
        labels = [tokens[place] for place in places]
        for place in places:
            fate = self.random.random()
            if fate < 0.8:
                tokens[place] = MASK
            elif fate < 0.9:
                tokens[place] = self.random.randrange(self.words)
        return places, labels


class MaskedProse:
    COLUMNS = ("input_ids", "token_type_ids", "attention_mask", "masked_positions", "masked_labels", "masked_weights",
               "next_label")

    def __init__(self, folder, network, batch):
        self.length, size = network.config.max_position_embeddings, network.config.vocab_size
        documents = {part: documents_of(folder / f"{part}.txt") for part in ("train", "val")}
        counts = counted_words(sentence for document in documents["train"] for sentence in document)
        pieces = [*NAMES, *learn_pieces(counts, size - len(NAMES))]
        self.tokenizer = BertWordPieceTokenizer({piece: number for number, piece in enumerate(pieces)})
        self.training = DataLoader(self.samples(documents["train"]), batch, shuffle=True, drop_last=True)
        self.held_out = DataLoader(self.samples(documents["val"]), batch)
        self.resolution = {"mlm_accuracy": 1 / self.held_out.dataset.tensors[5].sum().item()}

    def samples(self, documents):
        encoded = [[self.tokenizer.encode(sentence, add_special_tokens=False).ids for sentence in document]
                   for document in documents]
        samples = Maker(encoded, self.length, self.tokenizer.get_vocab_size()).samples()
        return TensorDataset(*map(torch.tensor, zip(*samples)))

    def batch(self, loaded):
        return dict(zip(self.COLUMNS, loaded))

    def evaluate(self, recipe, network):
        right = masked = nats = next_nats = 0
        for batch in map(self.batch, self.held_out):
            words, is_next, labels = recipe.answers(network, batch)
            nats += functional.cross_entropy(words.flatten(0, 1), labels.flatten(), reduction="sum").item()
            next_nats += functional.cross_entropy(is_next, batch["next_label"], reduction="sum").item()
            right += (words.argmax(2) == labels).sum().item()
            masked += (labels >= 0).sum().item()
        return {"mlm_accuracy": right / masked, "loss": nats / masked + next_nats / len(self.held_out.dataset)}
