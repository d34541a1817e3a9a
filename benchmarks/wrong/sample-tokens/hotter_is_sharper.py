import torch


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0:
        raise ValueError("temperature")
    if top_k is not None and top_k < 1:
        raise ValueError("top_k")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError("top_p")
    p = torch.softmax(logits * temperature, -1)
    ids = torch.argsort(p, descending=True, stable=True)
    if top_k is not None:
        ids = ids[:top_k]
    if top_p is not None:
        c = torch.cumsum(p[ids] / p[ids].sum(), 0)
        ids = ids[: int((c < top_p).sum()) + 1]
    q = torch.zeros_like(p)
    q[ids] = p[ids]
    c = torch.cumsum(q / q.sum(), 0)
    return [int((c <= x).sum()) for x in u]
