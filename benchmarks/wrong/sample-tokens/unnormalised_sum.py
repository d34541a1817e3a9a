import numpy as np


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError("parameters")
    z = logits / temperature
    p = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    keep = sorted(range(len(p)), key=lambda i: -p[i])[:top_k]
    if top_p is not None:
        c = np.cumsum(p[keep]) / sum(p[keep])
        keep = keep[: int((c < top_p).sum()) + 1]
    tokens = []
    for x in u:
        total = 0.0
        token = max(keep)
        for i in sorted(keep):
            total += p[i]
            if total > x:
                token = i
                break
        tokens.append(token)
    return tokens
