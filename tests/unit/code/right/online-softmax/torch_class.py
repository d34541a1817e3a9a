from dataclasses import dataclass

import torch


@dataclass
class State:
    m: torch.Tensor
    l: torch.Tensor
    o: torch.Tensor

    def add(self, scores, values):
        top = torch.max(self.m, scores.max(-1)[0])
        p = torch.exp(scores - top.view(-1, 1))
        scale = torch.exp(self.m - top)
        return State(top, self.l * scale + p.sum(-1), torch.diag(scale) @ self.o + p @ values)


def online_softmax(m, l, o, x, V):
    state = State(m, l, o).add(x, V)
    return state.m, state.l, state.o
