import torch
from torch import Tensor


def sdpa(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Tensor:
    if Q.dim() > 2:
        rows = []
        for b in range(Q.shape[0]):
            part = mask[b] if mask is not None and mask.dim() == Q.dim() else mask
            rows.append(sdpa(Q[b], K[b], V[b], part))
        return torch.stack(rows)
    if mask is not None and mask.shape != (Q.shape[0], K.shape[0]):
        raise ValueError(f"mask {tuple(mask.shape)}")
    if K.shape[0] != V.shape[0]:
        raise ValueError("keys and values")
    out = []
    for i, q in enumerate(Q):
        scores = K.mv(q) / (q.numel() ** 0.5)
        if mask is not None:
            chosen = mask[i].nonzero().flatten()
            if chosen.numel() == 0:
                out.append(torch.zeros(V.shape[1], dtype=V.dtype))
                continue
            out.append(torch.softmax(scores[chosen], 0) @ V[chosen])
        else:
            out.append(torch.softmax(scores, 0) @ V)
    return torch.stack(out)
