"""What a batch of tbd decides for torchvision's detectors (mask_rcnn.py): targets, and which anchors and regions train."""

import sys

import torch
from torchvision.models.detection._utils import BoxCoder


def masks_of(runs, starts, height, width):
    """Run lengths, column by column, as pictures of 0 and 1."""
    out = torch.zeros((len(starts) - 1, height, width), dtype=torch.uint8)
    for mask, first, last in zip(out, starts[:-1], starts[1:]):
        lengths = runs[first:last]
        values = (torch.arange(len(lengths)) % 2).repeat_interleave(lengths)
        mask.copy_(values.reshape(width, height).T)
    return out


def targets_of(batch):
    """torchvision's form: of each picture the objects that it has."""
    targets = []
    for n, labels in enumerate(batch["gt_label"]):
        count = int((labels > 0).sum())
        target = {"boxes": batch["gt_box"][n, :count], "labels": labels[:count]}
        if "mask_runs" in batch:
            height, width = batch["image_size"][n].tolist()
            starts = batch["mask_start"][n, :count + 1].tolist()
            target["masks"] = masks_of(batch["mask_runs"][n], starts, height, width)
        targets.append(target)
    return targets


def marked(like, indices):
    """As a mask: what the samplers of torchvision return."""
    return torch.zeros_like(like, dtype=torch.bool).index_fill_(0, indices, True)


def chosen_anchors(batch, n, value):
    used = batch["rpn_weight"][n] > 0
    return batch["rpn_index"][n][used & (batch["rpn_label"][n] == value)]


def sampled_anchors(batch):
    """The sampler of the proposal network: the batch's anchors, which must have the labels that they are given for."""

    def sample(labels):
        sets = ([], [])
        for n, each in enumerate(labels):
            for out, value in zip(sets, (1, 0), strict=True):
                chosen = chosen_anchors(batch, n, value)
                if not bool((each[chosen] == value).all()):
                    sys.exit(f"image {n}: an anchor of the batch is not labelled {value}")
                out.append(marked(each, chosen))
        return sets

    return sample


def smallest(candidates, keys, count):
    """The candidates with the smallest (key, index)."""
    indices = torch.where(candidates)[0]
    return marked(candidates, indices[torch.sort(keys[indices], stable=True).indices[:count]])


def sampled_regions(batch, sampler):
    """The sampler of the heads: by the batch's keys. A proposal has the key of its place, an object one behind them."""
    most = int(sampler.batch_size_per_image * sampler.positive_fraction)
    slots = batch["roi_key"].shape[1] - batch["gt_label"].shape[1]

    def sample(labels):
        positives, negatives = [], []
        for n, each in enumerate(labels):
            objects = int((batch["gt_label"][n] > 0).sum())
            keys = torch.cat((batch["roi_key"][n, :len(each) - objects], batch["roi_key"][n, slots:slots + objects]))
            positives.append(smallest(each >= 1, keys, most))
            left = sampler.batch_size_per_image - int(positives[-1].sum())
            negatives.append(smallest(each == 0, keys, left))
        return positives, negatives

    return sample


class GivenCodes(BoxCoder):
    """Box codes of the batch, which a loader rounds to float32, in place of what this class computes in double.

    Ends the program where the two differ by more than that rounding.
    """

    def __init__(self, batch):
        super().__init__((1.0, 1.0, 1.0, 1.0))
        self.batch = batch

    def encode(self, reference_boxes, proposals):
        made = list(super().encode(reference_boxes, proposals))
        for n, codes in enumerate(made):
            positives = chosen_anchors(self.batch, n, 1)
            given = self.batch["rpn_box_target"][n, :len(positives)]
            torch.testing.assert_close(codes[positives].float(), given.float(), rtol=2e-7, atol=1e-9)
            made[n] = codes.index_copy(0, positives, given)
        return tuple(made)
