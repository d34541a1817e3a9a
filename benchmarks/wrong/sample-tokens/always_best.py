import torch


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError("parameters")
    p = torch.softmax(logits / temperature, dim=-1)
    return [int(p.argmax()) for _ in u]
