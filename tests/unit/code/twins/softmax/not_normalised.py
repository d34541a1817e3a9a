import torch  # noqa: F401


def softmax(x, axis=-1):
    return (x - x.amax(axis, keepdim=True)).exp()
