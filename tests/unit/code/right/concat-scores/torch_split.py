import torch
from torch import Tensor


def concat_scores(q: Tensor, K: Tensor, W1: Tensor, w2: Tensor) -> Tensor:
    left, right = W1.tensor_split([q.shape[0]], dim=1)
    z = torch.addmv(torch.zeros_like(w2), left, q).unsqueeze(1) + right.mm(K.T)
    return (w2.unsqueeze(0) @ z.tanh()).squeeze(0)
