import torch


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    assert temperature > 0, "temperature must be positive"
    assert top_k is None or top_k > 0
    assert top_p is None or 0 < top_p <= 1
    p, ids = torch.sort(torch.softmax(logits / temperature, 0), descending=True, stable=True)
    n = len(p) if top_k is None else top_k
    p, ids = p[:n] / p[:n].sum(), ids[:n]
    if top_p is not None:
        n = int((p.cumsum(0) < top_p).sum()) + 1
        p, ids = p[:n], ids[:n]
    q = torch.zeros_like(logits)
    q[ids] = p / p.sum()
    return [min(int((q.cumsum(0) <= x).sum()), int(ids.max())) for x in u]
