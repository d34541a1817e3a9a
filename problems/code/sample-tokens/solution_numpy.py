import numpy as np


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError("temperature, top_k or top_p is out of range")
    scores = logits / temperature
    weights = np.exp(scores - scores.max())
    order = np.argsort(-logits, kind="stable")  # most probable first, the smaller id of equals
    if top_k is not None:
        weights[order[top_k:]] = 0
    if top_p is not None:
        before = np.cumsum(weights[order]) - weights[order]  # what the more probable ones have together
        weights[order[before >= top_p * weights.sum()]] = 0
    reached = np.cumsum(weights) / weights.sum()
    return [int(np.argmax(reached > number)) for number in u]
