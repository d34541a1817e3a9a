import torch
import torch.nn.functional as F  # noqa: N812


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    if torch.broadcast_shapes(scores.shape, mask.shape) != scores.shape:
        raise ValueError(f"mask {tuple(mask.shape)} for scores {tuple(scores.shape)}")
    mask = mask.expand(scores.shape)
    nothing = ~mask.any(dim=-1, keepdim=True)
    bias = torch.zeros_like(scores).masked_fill_(~(mask | nothing), -torch.inf)
    w = F.softmax(scores + bias, dim=-1)
    return w * (~nothing).to(w.dtype)
