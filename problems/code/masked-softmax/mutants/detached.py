import math

import torch


def masked_softmax(scores, mask):
    seen = mask.expand(scores.shape)
    shown = scores.masked_fill(~seen, -math.inf)
    top = shown.amax(dim=-1, keepdim=True)
    e = torch.exp(shown - top.masked_fill(top == -math.inf, 0.0))
    total = e.sum(dim=-1, keepdim=True).detach()
    return e / total.masked_fill(total == 0, 1.0)


def masked_softmax_exponentials(scores, mask):
    seen = mask.expand(scores.shape)
    shown = scores.masked_fill(~seen, -math.inf)
    top = shown.amax(dim=-1, keepdim=True)
    e = torch.exp(shown - top.masked_fill(top == -math.inf, 0.0))
    total = e.sum(dim=-1, keepdim=True)
    return e.detach() / total.masked_fill(total == 0, 1.0)


def masked_softmax_and_maximum(scores, mask):
    seen = mask.expand(scores.shape)
    shown = scores.masked_fill(~seen, -math.inf)
    top = shown.amax(dim=-1, keepdim=True).detach()
    e = torch.exp(shown - top.masked_fill(top == -math.inf, 0.0))
    total = e.sum(dim=-1, keepdim=True).detach()
    return e / total.masked_fill(total == 0, 1.0)
