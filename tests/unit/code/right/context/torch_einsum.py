import torch


def context(a, h):
    assert_same(a.shape[-1], h.shape[0])
    return torch.einsum("...n, nd -> ...d", a, h)


def assert_same(x, y):
    if x != y:
        raise ValueError(f"{x} != {y}")
