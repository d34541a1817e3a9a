import torch


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError("temperature, top_k or top_p is out of range")
    weights = torch.softmax(logits / temperature, dim=0)
    order = torch.argsort(logits, descending=True, stable=True)  # the smaller id of equals first
    if top_k is not None:
        weights[order[top_k:]] = 0
    if top_p is not None:
        before = torch.cumsum(weights[order], 0) - weights[order]  # what the more probable ones have together
        weights[order[before >= top_p * weights.sum()]] = 0
    reached = torch.cumsum(weights, 0) / weights.sum()
    return [int((reached > number).nonzero()[0]) for number in u]
