import numpy as np


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError("parameters")
    z = logits / temperature
    p = np.exp(z - np.max(z))
    ids = sorted(range(len(p)), key=lambda i: -p[i])[:top_k]
    if top_p is not None:
        c = np.cumsum(p[ids]) / np.sum(p[ids])
        ids = ids[: max(1, int(np.sum(c <= top_p)))]
    ids = sorted(ids)
    c = np.cumsum(p[ids]) / np.sum(p[ids])
    return [ids[int(np.sum(c <= x))] for x in u]
