import torch


def softmax_vjp(w, g):
    if w.size() != g.size():
        raise ValueError("sizes")
    return torch.ops.aten._softmax_backward_data(g.contiguous(), w.contiguous(), -1, w.dtype)
