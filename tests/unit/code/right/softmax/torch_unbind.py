import torch as t


def softmax(x, dim=-1):
    slices = t.unbind(x, dim)
    top = slices[0]
    for part in slices[1:]:
        top = t.maximum(top, part)
    parts = [t.exp(part - top) for part in slices]
    total = sum(parts[1:], parts[0])
    return t.stack([part / total for part in parts], dim)
