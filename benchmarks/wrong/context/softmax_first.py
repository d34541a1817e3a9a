import torch
from torch import nn


class ContextVector(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, energies, encoder_outputs):
        return torch.matmul(self.softmax(energies), encoder_outputs)


def context(weights, H):
    return ContextVector()(weights, H)
