import torch


def context(weights, H):
    states = torch.unbind(H, dim=0)
    per_state = torch.unbind(weights, dim=-1)
    if len(states) != len(per_state):
        raise ValueError(f"{len(per_state)} weights, {len(states)} states")
    total = per_state[0][..., None] * states[0]
    for w, h in zip(per_state[1:], states[1:], strict=True):
        total = total + w[..., None] * h
    return total
