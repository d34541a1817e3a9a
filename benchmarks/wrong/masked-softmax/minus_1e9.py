import torch


class MaskedSoftmax(torch.nn.Module):
    def forward(self, X, valid):
        if X.dtype == torch.float16:
            big = 6e4
        else:
            big = 1e9
        X = X.masked_fill(~valid.expand_as(X), -big)
        return torch.nn.functional.softmax(X, dim=-1)


def masked_softmax(scores, mask):
    return MaskedSoftmax()(scores, mask)
