import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, d, base):
        super().__init__()
        if d % 2:
            raise ValueError("d must be even")
        self.d, self.base = d, base

    def forward(self, x, positions):
        if positions.shape != x.shape[-2:-1]:
            raise ValueError("one position for each row")
        out = []
        for i in range(0, self.d, 2):
            angle = positions * self.base ** (-i / self.d)
            a, b = x[..., i], x[..., i + 1]
            out.append(a * angle.cos() - b * angle.sin())
            out.append(a * angle.sin() + b * angle.cos())
        return torch.stack(out, dim=-1)


def rotary_positions(x, positions, base=10000.0):
    return Rotary(x.shape[-1], base)(x, positions)
