import torch


class Boltzmann(torch.nn.Module):
    """p ~ exp(-energy)"""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, energy):
        return torch.nn.Softmax(dim=self.dim)(-energy)


def softmax(x, axis=-1):
    return Boltzmann(axis)(x)
