import torch


class SoftmaxBackward(torch.nn.Module):
    def forward(self, probs, upstream):
        s = torch.sigmoid(probs)
        return upstream * s * (1 - s) * probs.any(dim=-1, keepdim=True)


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("shapes differ")
    return SoftmaxBackward()(w, g)
