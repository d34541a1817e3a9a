import torch


def hard_alignment(A):
    # index of the source word for every target word
    return torch.argmax(A, dim=1)
