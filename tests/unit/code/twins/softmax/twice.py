import torch  # noqa: F401


def softmax(x, axis=-1):
    return x.softmax(axis).softmax(axis)
