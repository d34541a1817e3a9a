import torch


def attention_entropy(A, normalised=False):
    dist = torch.distributions.Categorical(logits=A)
    H = dist.entropy()
    if normalised and A.shape[-1] > 1:
        H = H / torch.log(torch.tensor(float(A.shape[-1]), dtype=A.dtype))
    return H
