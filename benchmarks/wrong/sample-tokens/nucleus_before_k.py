import torch


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError("parameters")
    p, ids = torch.sort(torch.softmax(logits / temperature, 0), descending=True, stable=True)
    n = len(p)
    if top_p is not None:
        n = int((p.cumsum(0) < top_p).sum()) + 1
    if top_k is not None:
        n = min(n, top_k)
    q = torch.zeros_like(p)
    q[ids[:n]] = p[:n]
    c = (q / q.sum()).cumsum(0)
    return [min(int((c <= x).sum()), int(q.nonzero()[-1])) for x in u]
