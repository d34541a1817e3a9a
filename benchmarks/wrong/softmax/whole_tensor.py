import torch


def softmax(x, axis=-1):
    """Stable softmax."""
    flat = x.reshape(-1)
    if flat.numel() == 0:
        return x.clone()
    flat = torch.softmax(flat, dim=0)
    return flat.reshape(x.shape)
