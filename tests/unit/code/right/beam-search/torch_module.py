import heapq
import math

import torch
from torch import nn


class BeamSearch(nn.Module):
    def __init__(self, width, bos, eos):
        super().__init__()
        if width < 1:
            raise ValueError("width")
        self.width, self.bos, self.eos = width, bos, eos

    def successors(self, step, item):
        key, state = item
        score, tokens = -key[0], list(key[1])
        if tokens and tokens[-1] == self.eos:
            yield item
            return
        P, state = step(tokens[-1] if tokens else self.bos, state)
        for y in torch.nonzero(P).flatten().tolist():
            yield (-(score + math.log(P[y].item())), tokens + [y]), state

    def forward(self, step, state, max_len):
        beam = [((0.0, []), state)]
        for _ in range(max_len):
            pool = [successor for item in beam for successor in self.successors(step, item)]
            beam = heapq.nsmallest(self.width, pool, key=lambda item: item[0])
        return [(tokens, -cost) for (cost, tokens), _ in beam]


def beam_search(step, s0, b, bos, eos, max_len):
    return BeamSearch(b, bos, eos)(step, s0, max_len)
