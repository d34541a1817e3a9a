import numpy as np


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    """Every token that is left owns an interval of [0, 1)."""
    if temperature <= 0 or (top_k is not None and top_k < 1):
        raise ValueError("temperature or top_k")
    if top_p is not None and not (0 < top_p <= 1):
        raise ValueError("top_p")
    ids = np.lexsort((np.arange(len(logits)), -logits))[:top_k]
    w = np.exp(np.longdouble(logits[ids] - logits[ids[0]]) / temperature)
    if top_p is not None:
        share = w.cumsum() / w.sum()
        ids = ids[: 1 + np.count_nonzero(share < top_p)]
    ids = np.sort(ids)
    w = np.exp(np.longdouble(logits[ids] - logits[ids].max()) / temperature)
    ends = w.cumsum() / w.sum()
    starts = np.concatenate([[0], ends[:-1]])
    chosen = (starts <= u[:, None]) & (u[:, None] < ends)
    return tuple(int(ids[row.argmax()]) for row in chosen)
