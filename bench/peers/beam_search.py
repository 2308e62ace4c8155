"""Beam search by the rule of src/quality/beam_search.h, tensor2tensor's: log p / ((5 + n) / 6)^0.6."""

import torch

PENALTY = 0.6


def penalty(length):
    return ((5 + length) / 6) ** PENALTY


def translate(next_scores, longest, end, beams=4):
    """Tokens of the best sentence, its end included where it has one. next_scores: (prefixes, words), of the words
    behind prefixes, lists of as many tokens each."""
    alive, finished = [(0.0, [])], []
    for length in range(1, longest + 1):
        scores = next_scores([tokens for _, tokens in alive]).double().log_softmax(1)
        scores += torch.tensor([score for score, _ in alive], dtype=torch.double).unsqueeze(1)
        best = [(score, alive[place // scores.shape[1]][1] + [place % scores.shape[1]])
                for score, place in zip(*(x.tolist() for x in scores.flatten().topk(2 * beams)))]
        finished += [(score / penalty(length), tokens) for score, tokens in best if tokens[-1] == end]
        finished = sorted(finished, key=lambda sentence: -sentence[0])[:beams]
        alive = [(score, tokens) for score, tokens in best if tokens[-1] != end][:beams]
        if len(finished) == beams and finished[-1][0] > alive[0][0] / penalty(longest):
            break
    return (finished or alive)[0][1]
