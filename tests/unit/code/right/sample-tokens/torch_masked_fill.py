import torch


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0:
        raise ValueError("temperature")
    logits = logits.double() / temperature
    sorted_logits, ids = torch.sort(logits, descending=True, stable=True)
    if top_k is not None:
        if top_k < 1:
            raise ValueError("top_k")
        sorted_logits = sorted_logits.masked_fill(torch.arange(len(ids)) >= top_k, -torch.inf)
    if top_p is not None:
        if top_p <= 0 or top_p > 1:
            raise ValueError("top_p")
        p = sorted_logits.softmax(-1)
        remove = p.cumsum(-1) - p >= top_p
        sorted_logits = sorted_logits.masked_fill(remove, -torch.inf)
    kept = torch.full_like(logits, -torch.inf).scatter(0, ids, sorted_logits)
    edges = kept.softmax(-1).cumsum(-1)
    tokens = torch.searchsorted(edges, u.double(), right=True)
    return tokens.clamp(max=int(torch.isfinite(kept).nonzero().max())).tolist()
