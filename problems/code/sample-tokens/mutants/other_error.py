import numpy as np


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    assert temperature > 0
    assert top_k is None or top_k >= 1
    assert top_p is None or 0 < top_p <= 1
    scores = logits / temperature
    p = np.exp(scores - scores.max())
    order = np.argsort(-logits, kind="stable")
    if top_k is not None:
        p[order[top_k:]] = 0
    if top_p is not None:
        p[order[np.cumsum(p[order]) - p[order] >= top_p * p.sum()]] = 0
    reached = np.cumsum(p) / p.sum()
    return [int(np.argmax(reached > number)) for number in u]
