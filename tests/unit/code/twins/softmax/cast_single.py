import torch


def softmax(x, axis=-1):
    return torch.softmax(x.float(), axis).to(x.dtype)
