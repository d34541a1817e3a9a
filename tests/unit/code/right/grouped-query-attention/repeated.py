import numpy as np


def softmax(x):
    x = np.exp(x - np.max(x, axis=2, keepdims=True))
    return x / np.sum(x, axis=2, keepdims=True)


def grouped_query_attention(Q, K, V):
    heads_per_group = Q.shape[0] // K.shape[0]
    if heads_per_group * K.shape[0] != Q.shape[0]:
        raise ValueError("the number of heads isn't a multiple of the number of groups")
    if K.shape[0] != V.shape[0]:
        raise ValueError("K and V have different numbers of groups")
    K = np.repeat(K, heads_per_group, axis=0)
    V = np.repeat(V, heads_per_group, axis=0)
    scale = np.sqrt(Q.shape[2]).astype(Q.dtype)
    return softmax(Q @ K.transpose(0, 2, 1) / scale) @ V
