import torch


def bilinear_scores(q: torch.Tensor, K: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
    return torch.mv(K, torch.mv(W.t(), q))
