import torch
from torch import nn


class Encoding(nn.Module):
    def __init__(self, d, base, dtype):
        super().__init__()
        if d < 2 or d % 2 != 0:
            raise ValueError("even d only")
        inv_freq = 1.0 / (base ** (torch.arange(0, d, 2).to(dtype) / d))
        self.register_buffer("inv_freq", inv_freq)

    def forward(self, positions):
        angles = torch.einsum("n,f->nf", positions, self.inv_freq)
        return torch.stack((angles.sin(), angles.cos()), dim=2).view(len(positions), -1)


def sinusoidal_positions(positions, d, base=10000.0):
    return Encoding(d, base, positions.dtype)(positions)
