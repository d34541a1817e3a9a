import numpy as np


def attention(q, k, v):
    s = (q * (1 / len(q[0]) ** 0.5)) @ k.T
    p = np.exp(s - s.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    return p @ v


def grouped_query_attention(Q, K, V):
    if len(Q) % len(K) or len(K) != len(V):
        raise ValueError("heads and groups")
    per = len(Q) // len(K)
    return np.stack([attention(q, K[i // per], V[i // per]) for i, q in enumerate(Q)])
