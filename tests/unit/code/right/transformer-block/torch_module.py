import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def norm(self, X, which):
        variance, mean = torch.var_mean(X, dim=-1, correction=0, keepdim=True)
        return torch.rsqrt(variance + 1e-5) * (X - mean) * self.p[f"gain{which}"] + self.p[f"bias{which}"]

    def attend(self, X):
        scores = torch.einsum("id,dk,je,ek->ij", X, self.p["Wq"], X, self.p["Wk"])
        return torch.softmax(scores / self.p["Wq"].shape[1] ** 0.5, dim=1) @ X @ self.p["Wv"] @ self.p["Wo"]

    def forward(self, X):
        X = X + self.attend(self.norm(X, 1))
        hidden = torch.addmm(self.p["c1"], self.norm(X, 2), self.p["W1"])
        return X + torch.addmm(self.p["c2"], nn.ReLU()(hidden), self.p["W2"])


def transformer_block(X, p):
    return Block(p)(X)
