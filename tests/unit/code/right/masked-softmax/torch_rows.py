import torch


def masked_softmax(scores, mask):
    n = scores.shape[-1]
    flat = scores.reshape(-1, n)
    seen = mask.broadcast_to(scores.shape).reshape(-1, n)
    rows = []
    for x, m in zip(flat.unbind(0), seen.unbind(0), strict=True):
        places = torch.nonzero(m).squeeze(1)
        row = torch.zeros(n, dtype=x.dtype)
        if len(places) > 0:
            row = row.index_put((places,), torch.softmax(x.index_select(0, places), 0))
        rows.append(row)
    return torch.stack(rows).view(scores.shape) if rows else torch.zeros_like(scores)
