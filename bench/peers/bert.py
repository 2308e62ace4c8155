"""BERT training in idiomatic eager PyTorch: the classes of transformers, LAMB or AdamW (training.py, optimizers.py)."""

import sys

import torch
from torch.nn import functional
from transformers import BertConfig, BertForPreTraining, BertForQuestionAnswering

import training
from optimizers import AdamWUncorrected, Lamb

LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
TINY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64, "vocab_size": 128,
        "max_position_embeddings": 64}
SMALL = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512,
         "vocab_size": 2000, "max_position_embeddings": 64}
SIZES = {"canonical": LARGE, "large": LARGE, "base": BASE, "tiny": TINY, "small": SMALL, "squad": LARGE,
         "squad_base": BASE, "squad_tiny": TINY}


def build(config="canonical", dropout=True):
    rates = {} if dropout else {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    if config.startswith("squad"):
        return BertForQuestionAnswering(BertConfig(**SIZES[config], **rates))
    return BertForPreTraining(BertConfig(**SIZES[config], **rates))


def tokens(batch):
    return {name: batch[name] for name in ("input_ids", "token_type_ids", "attention_mask")}


def answers(network, batch):
    """The layer of words runs on the masked positions alone, as pre-training programs have it."""
    state, pooled = network.bert(**tokens(batch))[:2]
    places = batch["masked_positions"].unsqueeze(2).expand(-1, -1, state.shape[2])
    words, is_next = network.cls(state.gather(1, places), pooled)
    labels = batch["masked_labels"].masked_fill(batch["masked_weights"] == 0, -100)
    return words, is_next, labels


def loss(network, batch):
    if isinstance(network, BertForQuestionAnswering):
        return reference_loss(network, batch)
    words, is_next, labels = answers(network, batch)
    return (functional.cross_entropy(words.flatten(0, 1), labels.flatten())
            + functional.cross_entropy(is_next, batch["next_label"]))


def reference_loss(network, batch):
    """The loss that the class itself computes, over all positions."""
    if isinstance(network, BertForQuestionAnswering):
        return network(**tokens(batch), start_positions=batch["start"], end_positions=batch["end"]).loss
    labels = torch.full_like(batch["input_ids"], -100)
    row, column = torch.nonzero(batch["masked_weights"], as_tuple=True)
    labels[row, batch["masked_positions"][row, column]] = batch["masked_labels"][row, column]
    return network(**tokens(batch), labels=labels, next_sentence_label=batch["next_label"]).loss


def clip(network):
    return 1.0 if isinstance(network, BertForQuestionAnswering) else None  # LAMB has its own


def groups(network):
    """Biases and norms do not decay."""
    plain, decayed = [], []
    for name, parameter in network.named_parameters():
        (plain if "bias" in name or "LayerNorm" in name else decayed).append(parameter)
    return [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]


def optimizer(network, samples, **form):
    if isinstance(network, BertForQuestionAnswering):
        return AdamWUncorrected(groups(network), lr=3e-5)
    return Lamb(groups(network), lr=6e-3 * (samples / 65536) ** 0.5)


def factor(network, step, samples):
    if isinstance(network, BertForQuestionAnswering):
        done = step / -(-3 * 88524 // samples)
        return done / 0.1 if done < 0.1 else (1 - done) / 0.9
    done = step / 7038
    return done / 0.2843 if done < 0.2843 else (1 - done) ** 0.5


if __name__ == "__main__":
    training.main(sys.modules[__name__])
