import torch
import torch.nn.functional as F


def sdpa(Q, K, V, mask=None):
    # TODO mask
    scores = torch.matmul(Q, K.transpose(-2, -1)) / torch.sqrt(torch.tensor(K.shape[-1], dtype=Q.dtype, device=Q.device))
    return torch.matmul(F.softmax(scores, dim=-1), V)
