"""fairseq's own `lstm` and `transformer`, on a batch of tbd: what step_against_reference.py compares with.

setup.sh puts fairseq's Python files into the environment, for its C++ extensions are not needed. It was written for
Python before 3.11, which lets no dataclass be the default of a field unless it has a hash; `importable` gives it one.
"""

import dataclasses
import functools
import logging
import warnings

import torch

import luong
import seq2seq
import transformer


def importable():
    original = dataclasses.dataclass

    def hashed(cls=None, **settings):
        if cls is None:
            return functools.partial(hashed, **settings)
        return original(cls, **{"eq": False, **settings} if cls.__module__.startswith("fairseq") else settings)

    dataclasses.dataclass = hashed


importable()
warnings.simplefilter("ignore")  # of functions that torch means to drop
logging.disable(logging.INFO)
from fairseq import utils  # noqa: E402
from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss  # noqa: E402
from fairseq.data import Dictionary  # noqa: E402
from fairseq.models.lstm import LSTMDecoder, LSTMEncoder, LSTMModel  # noqa: E402
from fairseq.models import transformer as published  # noqa: E402


def dictionary(words):
    """Ids 0 bos, 1 pad, 2 eos, 3 unk, then words."""
    made = Dictionary()
    for index in range(words - len(made)):
        made.add_symbol(f"word{index}")
    return made


def in_double(forward):
    """Attention in double stays so: fairseq computes scores in float whatever its weights' type, because of halves."""

    def changed(network, batch):
        kept = torch.Tensor.float, utils.softmax
        if next(network.parameters()).dtype == torch.double:
            torch.Tensor.float, utils.softmax = (lambda x: x), (lambda x, dim, onnx_trace=False: x.softmax(dim))
        try:
            return forward(network, batch)
        finally:
            torch.Tensor.float, utils.softmax = kept

    return changed


class Lstm(LSTMModel):
    """fairseq packs sequences of unsorted lengths when told to, and pads back to the longest."""

    smoothing, pad = 0.0, luong.PAD

    @in_double
    def forward(self, batch):
        longest = int(batch["src_len"].max())
        memory = self.encoder(batch["src"][:, :longest], batch["src_len"], enforce_sorted=False)
        return self.decoder(batch["tgt_in"], encoder_out=memory)[0]


def lstm(config):
    like = seq2seq.build(config)
    width = like.encoder.embed_tokens.embedding_dim
    rates = {"dropout_in": 0.0, "dropout_out": 0.0, "pretrained_embed": None}
    sizes = {"embed_dim": width, "hidden_size": width, "num_layers": 2}
    encoder = LSTMEncoder(dictionary(like.encoder.embed_tokens.num_embeddings), left_pad=False, padding_idx=luong.PAD,
                          **sizes, **rates)
    decoder = LSTMDecoder(dictionary(like.decoder.embed_tokens.num_embeddings), out_embed_dim=width, attention=True,
                          encoder_output_units=width, **sizes, **rates)
    return Lstm(encoder, decoder)


class Translator(published.TransformerModel):
    def exact(self):
        """In double, positions too, which fairseq computes in float."""
        for part in (self.encoder, self.decoder):
            positions = part.embed_positions
            positions.weights = transformer.sinusoids(*positions.weights.shape)
        return self.double()

    @in_double
    def forward(self, batch):
        memory = self.encoder(batch["src"], src_lengths=None)
        return self.decoder(batch["tgt_in"], encoder_out=memory)[0]


def translator(config):
    sizes = {"layers": 6, "width": 512, "hidden": 2048, "heads": 8, "words": 33708, **transformer.SIZES[config]}
    made = published.TransformerConfig()
    made.dropout = made.attention_dropout = made.activation_dropout = 0.0
    made.share_all_embeddings = made.share_decoder_input_output_embed = True
    for part in (made.encoder, made.decoder):
        part.embed_dim, part.ffn_embed_dim = sizes["width"], sizes["hidden"]
        part.layers, part.attention_heads, part.normalize_before = sizes["layers"], sizes["heads"], True
    made.decoder.input_dim = made.decoder.output_dim = sizes["width"]
    words = dictionary(sizes["words"])
    table = published.TransformerModel.build_embedding(made, words, sizes["width"])
    encoder = published.TransformerEncoder(made, words, table)
    return Translator(made, encoder, published.TransformerDecoder(made, words, table))


def loss_of(model, recipe):
    return recipe.loss if model == "seq2seq" else translation_loss


def build(model, config):
    return lstm(config) if model == "seq2seq" else translator(config)


def translation_loss(network, batch):
    """fairseq's label smoothing over words of the batch."""
    logits = network(batch)
    logs = torch.log_softmax(logits, -1).flatten(0, 1)
    labels = batch["tgt_out"].flatten()
    smoothed, _ = label_smoothed_nll_loss(logs, labels.unsqueeze(1), 0.1, ignore_index=transformer.PAD)
    return smoothed / (labels != transformer.PAD).sum()
