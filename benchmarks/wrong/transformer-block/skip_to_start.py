import torch
import torch.nn.functional as F


def transformer_block(X, p):
    n1 = F.layer_norm(X, X.shape[-1:], p["gain1"], p["bias1"])
    scores = (n1 @ p["Wq"]) @ (n1 @ p["Wk"]).T / p["Wq"].shape[-1] ** 0.5
    a = X + scores.softmax(-1) @ (n1 @ p["Wv"]) @ p["Wo"]
    n2 = F.layer_norm(a, a.shape[-1:], p["gain2"], p["bias2"])
    return X + (n2 @ p["W1"] + p["c1"]).relu() @ p["W2"] + p["c2"]
