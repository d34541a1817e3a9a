import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def attention(self, state, annotations):
        query = self.p["W"] @ state
        keys = annotations @ self.p["U"].t()
        return torch.tanh(query + keys) @ self.p["v"]

    def forward(self, emb, state, annotations):
        weights = self.attention(state, annotations)
        ctx = weights @ annotations
        rnn_in = torch.cat((ctx, emb))
        new = torch.tanh(self.p["Wx"] @ rnn_in + self.p["Ws"] @ state)
        return weights, ctx, new, torch.softmax(self.p["Wy"] @ new, -1)


def decoder_step(y, s, H, p):
    return Decoder(p)(y, s, H)
