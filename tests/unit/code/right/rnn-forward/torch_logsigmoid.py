import torch
from torch.nn.functional import logsigmoid


def rnn_forward(X: torch.Tensor, W: torch.Tensor, U: torch.Tensor, h0: torch.Tensor) -> torch.Tensor:
    if W.shape != (len(h0), len(h0)) or len(U) != len(h0):
        raise ValueError("dimensions")
    weight = torch.cat([U, W], dim=-1)
    h, rows = h0, ()
    for x in X.unbind():
        h = logsigmoid(torch.mv(weight, torch.cat([x, h]))).exp()
        rows += (h,)
    return torch.vstack(rows)
