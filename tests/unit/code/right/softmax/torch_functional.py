import torch.nn.functional as F  # noqa: N812


def softmax(x, axis=-1):
    return F.log_softmax(x, dim=axis).exp()
