import math

import torch


def masked_softmax(scores, mask):
    visible = mask.expand(scores.shape)  # RuntimeError if it doesn't fit
    weights = torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1)
    return weights.masked_fill(~visible, 0.0)  # a row that sees nothing gets zeros, not NaN
