import torch


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0 or (top_k or 1) < 1 or top_k == 0 or not 0 < (1 if top_p is None else top_p) <= 1:
        raise ValueError("out of range")
    p = torch.softmax(logits / temperature, 0)
    ids = sorted(range(len(p)), key=lambda i: (-logits[i].item(), i))[:top_k]
    if top_p is not None:
        total = sum(p[i].item() for i in ids)
        mass, nucleus = 0.0, []
        while mass < top_p and len(nucleus) < len(ids):
            nucleus.append(ids[len(nucleus)])
            mass += p[nucleus[-1]].item() / total
        ids = nucleus
    ids = sorted(ids)
    total = sum(p[i].item() for i in ids)
    out = []
    for number in u.tolist():
        rest = number * total
        chosen = ids[-1]
        for i in ids:
            if rest < p[i].item():
                chosen = i
                break
            rest -= p[i].item()
        out.append(chosen)
    return out
