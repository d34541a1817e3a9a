import math

import torch


def _parts(Q, K, V):
    if K.shape[2] != Q.shape[2] or V.shape[:2] != K.shape[:2] or len(Q) % len(K):
        raise ValueError("shapes don't fit")
    r = len(Q) // len(K)
    return K.repeat_interleave(r, 0), V.repeat_interleave(r, 0), math.sqrt(Q.shape[-1])


def grouped_query_attention(Q, K, V):
    K, V, scale = _parts(Q, K, V)
    return torch.softmax(Q @ K.mT / scale, -1).detach() @ V


def grouped_query_attention_keys(Q, K, V):
    K, V, scale = _parts(Q, K, V)
    return torch.softmax(Q @ K.detach().mT / scale, -1) @ V


def grouped_query_attention_values(Q, K, V):
    K, V, scale = _parts(Q, K, V)
    return torch.softmax(Q @ K.mT / scale, -1) @ V.detach()
