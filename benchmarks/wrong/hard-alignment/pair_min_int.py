import torch
import torch.nn.functional as F


def hard_alignment(A):
    best = torch.argmin(A, dim=1)
    return F.one_hot(best, A.shape[1])
