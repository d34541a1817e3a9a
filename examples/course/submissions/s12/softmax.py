import torch


def softmax(x: torch.Tensor, axis: int = -1) -> torch.Tensor:
    e = (x - x.amax(dim=axis, keepdim=True)).exp()
    return e / e.sum(dim=axis, keepdim=True)
