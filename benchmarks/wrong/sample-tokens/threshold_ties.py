import torch


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError("parameters")
    z = logits / temperature
    if top_k is not None:
        kth = torch.topk(z, min(top_k, len(z))).values[-1]
        z = z.masked_fill(z < kth, -torch.inf)
    p = z.softmax(-1)
    if top_p is not None:
        s, ids = torch.sort(p, descending=True, stable=True)
        p[ids[s.cumsum(0) - s >= top_p]] = 0
        p = p / p.sum()
    return torch.searchsorted(p.cumsum(0), u, right=True).clamp(max=int(p.nonzero()[-1])).tolist()
