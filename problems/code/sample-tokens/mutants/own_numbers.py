import numpy as np


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError("out of range")
    scores = logits / temperature
    p = np.exp(scores - scores.max())
    order = np.argsort(-logits, kind="stable")
    if top_k is not None:
        p[order[top_k:]] = 0
    if top_p is not None:
        p[order[np.cumsum(p[order]) - p[order] >= top_p * p.sum()]] = 0
    reached = np.cumsum(p) / p.sum()
    rng = np.random.default_rng(0)
    return [int(np.argmax(reached > number)) for number in rng.random(len(u))]
