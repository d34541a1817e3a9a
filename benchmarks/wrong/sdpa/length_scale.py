import torch


def sdpa(Q, K, V, mask=None):
    seq_len = K.shape[-2]
    scores = torch.matmul(Q, K.mT) * seq_len**-0.5
    if mask is None:
        return torch.softmax(scores, -1) @ V
    scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
    return (torch.softmax(scores, -1) * mask) @ V
