import torch
from torch import nn


class Loss(nn.Module):
    def __init__(self, pad):
        super().__init__()
        self.nll = nn.NLLLoss(ignore_index=pad, reduction="mean")
        self.pad = pad

    def forward(self, logits, labels):
        if bool((labels == self.pad).all()):
            return logits.sum() * 0
        return self.nll(torch.log_softmax(logits, dim=-1).flatten(0, -2), labels.flatten())


def cross_entropy(logits, labels, pad):
    loss = Loss(pad)(logits, labels)
    return loss, torch.exp(loss)
