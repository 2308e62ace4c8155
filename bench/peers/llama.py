"""Training of a llama in idiomatic eager PyTorch: transformers' LlamaForCausalLM, AdamW, clipping (training.py)."""

import math
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

import training

CANONICAL = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "num_key_value_heads": 4,
             "intermediate_size": 2048, "vocab_size": 32000, "max_position_embeddings": 512}
TINY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "intermediate_size": 64, "vocab_size": 258, "max_position_embeddings": 16}
SIZES = {"canonical": CANONICAL, "tiny": TINY}


def build(config="canonical", dropout=True):
    sizes = SIZES[config]
    return LlamaForCausalLM(LlamaConfig(**sizes, head_dim=sizes["hidden_size"] // sizes["num_attention_heads"],
                                        rms_norm_eps=1e-5, tie_word_embeddings=True, use_cache=False))


class Angles(torch.nn.Module):
    """Cosines and sines of the rotary embedding in double, which the class computes in float."""

    def __init__(self, head):
        super().__init__()
        self.rates = 10000.0 ** (-torch.arange(0, head, 2, dtype=torch.double) / head)

    def forward(self, x, position_ids):
        angles = (position_ids[..., None] * self.rates).repeat(1, 1, 2)
        return angles.cos(), angles.sin()


def exact(network):
    """The class in double, with torch's RMSNorm in place of its own, which rounds to float."""
    network.double()
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if type(child).__name__ == "LlamaRMSNorm":
                norm = torch.nn.RMSNorm(child.weight.shape, eps=child.variance_epsilon, dtype=torch.double)
                setattr(module, name, norm)
    network.model.rotary_emb = Angles(network.config.head_dim)
    return network


def loss(network, batch):
    logits = network(input_ids=batch["ids"]).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())


def clip(network):
    return 1.0


def optimizer(network, samples, **form):
    norms = [parameter for name, parameter in network.named_parameters() if "norm" in name]
    matrices = [parameter for name, parameter in network.named_parameters() if "norm" not in name]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": norms, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=3e-4, betas=(0.9, 0.95), eps=1e-8, **form)


def factor(network, step, samples):
    return step / 1000 if step < 1000 else 0.5 * (1 + math.cos(math.pi * (step - 1000) / 49000))


if __name__ == "__main__":
    training.main(sys.modules[__name__])
