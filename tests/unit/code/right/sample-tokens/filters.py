import numpy as np


def by_k(p, k):
    ids = sorted(range(len(p)), key=lambda i: -p[i])
    q = np.zeros_like(p)
    q[ids[:k]] = p[ids[:k]]
    return q / q.sum()


def by_p(p, least):
    ids = sorted(range(len(p)), key=lambda i: -p[i])
    q, mass = np.zeros_like(p), 0
    for i in ids:
        if mass >= least:
            break
        q[i] = p[i]
        mass += p[i]
    return q / q.sum()


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    for name, right in [
        ("temperature", temperature > 0),
        ("top_k", top_k is None or top_k >= 1),
        ("top_p", top_p is None or 0 < top_p <= 1),
    ]:
        if not right:
            raise ValueError(name)
    p = np.exp((logits - logits.max()).astype(float) / temperature)
    p = p / p.sum()
    if top_k is not None:
        p = by_k(p, top_k)
    if top_p is not None:
        p = by_p(p, top_p)
    edges = np.cumsum(p)
    return [int(np.count_nonzero(edges <= number)) for number in u]
