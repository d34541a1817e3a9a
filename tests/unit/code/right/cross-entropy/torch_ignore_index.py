import torch
import torch.nn.functional as F  # noqa: N812


def cross_entropy(logits, labels, pad):
    logits, labels = logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)
    total = F.cross_entropy(logits, labels, ignore_index=pad, reduction="sum")
    count = (labels != pad).sum().clamp(min=1)
    loss = total / count
    return loss, loss.exp()
