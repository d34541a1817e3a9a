import math

import torch
from torch import nn


class Entropy(nn.Module):
    def forward(self, rows):
        return torch.stack([self.row(row) for row in rows])

    @staticmethod
    def row(row):
        kept = row[row > 0]
        return -torch.dot(kept, torch.log(kept))


def attention_entropy(A, normalised=False):
    n = A.shape[-1]
    H = Entropy()(A.reshape(-1, n)).reshape(A.shape[:-1])
    return H / math.log(n) if normalised and n > 1 else H
