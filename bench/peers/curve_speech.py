"""Recordings as a Python program reads them: the `wave` module, torch's spectrogram, errors by torchmetrics."""

import wave

import torch
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.functional.text import char_error_rate, word_error_rate

WINDOW, HOP = 320, 160  # 20 and 10 ms: the small set has 16,000 samples a second
FRAMES, LABELS = 200, 40  # of an utterance at most
ALPHABET = "_'ABCDEFGHIJKLMNOPQRSTUVWXYZ "  # the first is the blank


def read(file):
    with wave.open(str(file)) as recording:
        return torch.frombuffer(bytearray(recording.readframes(recording.getnframes())), dtype=torch.int16) / 32768


def spectrogram(samples):
    window = torch.hamming_window(WINDOW)
    bins = torch.stft(samples, WINDOW, HOP, window=window, pad_mode="reflect", return_complex=True).abs().log1p()
    return (bins - bins.mean()) / bins.std()


def utterances(folder):
    """Spectrograms and labels of those that a sample has room for, the shortest first."""
    found = []
    for transcripts in sorted(folder.rglob("*.trans.txt")):
        for line in transcripts.read_text().splitlines():
            name, text = line.split(" ", 1)
            spect, labels = spectrogram(read(transcripts.with_name(name + ".wav"))), list(map(ALPHABET.index, text))
            if spect.shape[1] <= FRAMES and len(labels) <= LABELS:
                found.append((spect, torch.tensor(labels)))
    return sorted(found, key=lambda each: each[0].shape[1])


def tensors(found):
    spects = [functional.pad(spect, (0, FRAMES - spect.shape[1])) for spect, _ in found]
    labels = [functional.pad(each, (0, LABELS - len(each))) for _, each in found]
    frames, lengths = ([each[side].shape[-1] for each in found] for side in (0, 1))
    return TensorDataset(torch.stack(spects)[:, None], torch.tensor(frames), torch.stack(labels), torch.tensor(lengths))


class SortedFirst(torch.utils.data.Sampler):
    """In the first epoch as the set is sorted, then shuffled (Amodei et al. 2016, section 3.2)."""

    def __init__(self, samples):
        self.samples, self.epoch = samples, 0

    def __len__(self):
        return self.samples

    def __iter__(self):
        self.epoch += 1
        return iter(range(self.samples) if self.epoch == 1 else torch.randperm(self.samples).tolist())


def spelled(labels):
    return "".join(ALPHABET[label] for label in labels)


class Prompts:
    def __init__(self, folder, network, batch):
        training = tensors(utterances(folder / "train"))
        self.training = DataLoader(training, batch, sampler=SortedFirst(len(training)), drop_last=True)
        self.held_out = DataLoader(tensors(utterances(folder / "val")), batch)
        self.said = [spelled(labels[:length]) for _, _, labels, length in self.held_out.dataset]
        self.resolution = {"cer": 1 / sum(len(text.replace(" ", "")) for text in self.said)}

    def batch(self, loaded):
        return dict(zip(("spect", "frames", "labels", "label_len"), loaded))

    def evaluate(self, recipe, network):
        nats, heard = 0, []
        for batch in map(self.batch, self.held_out):
            nats += recipe.loss(network, batch).item() * len(batch["spect"])
            steps = recipe.steps_of(batch)
            for best, count in zip(network(batch["spect"], steps).argmax(2), steps):
                heard.append(spelled(label for label in best[:count].unique_consecutive() if label))
        cer = char_error_rate(*([text.replace(" ", "") for text in side] for side in (heard, self.said)))
        return {"cer": cer.item(), "wer": word_error_rate(heard, self.said).item(), "loss": nats / len(self.said)}
