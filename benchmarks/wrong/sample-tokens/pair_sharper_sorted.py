import torch


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError("parameters")
    p, ids = torch.sort(torch.softmax(logits * temperature, -1), descending=True, stable=True)
    if top_k is not None:
        p, ids = p[:top_k], ids[:top_k]
    p = p / p.sum()
    if top_p is not None:
        n = int((p.cumsum(0) < top_p).sum()) + 1
        p, ids = p[:n], ids[:n]
        p = p / p.sum()
    return [int(ids[min(int((p.cumsum(0) <= x).sum()), len(ids) - 1)]) for x in u]
