import numpy as np


def grouped_query_attention(Q, K, V):
    if len(Q) % len(K) != 0 or len(V) != len(K):
        raise ValueError("heads")
    out = []
    for i in range(len(Q)):
        k, v = K[i % len(K)], V[i % len(K)]
        s = Q[i] @ k.T / Q.shape[2] ** 0.5
        w = np.exp(s - s.max(axis=1)[:, None])
        out.append(w @ v / w.sum(axis=1)[:, None])
    return np.array(out)
