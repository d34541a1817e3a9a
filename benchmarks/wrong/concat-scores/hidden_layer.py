import torch


class ConcatAttention(torch.nn.Module):
    def __init__(self, W1, w2):
        super().__init__()
        self.W1, self.w2 = W1, w2

    def forward(self, q, K):
        if self.w2.shape[0] != self.W1.shape[0]:
            raise ValueError("w2")
        x = torch.cat((q.expand(K.size(0), -1), K), dim=-1)
        return torch.tanh(torch.nn.functional.linear(x, self.W1))


def concat_scores(q, K, W1, w2):
    return ConcatAttention(W1, w2)(q, K)
