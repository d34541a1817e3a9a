import torch
import torch.nn.functional as F


class Bilinear(torch.nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, query, keys):
        energies = keys @ (self.weight.transpose(0, 1) @ query)
        return F.softmax(energies, dim=0)


def bilinear_scores(q, K, W):
    return Bilinear(W)(q, K)
