import torch


def softmax(x: torch.Tensor, axis: int = -1) -> torch.Tensor:
    return (x - x.logsumexp(dim=axis, keepdim=True)).exp()
