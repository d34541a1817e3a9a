import torch
import torch.nn.functional as F


def transformer_block(X, p):
    a = F.layer_norm(X, X.shape[-1:], p["gain1"], p["bias1"])
    b = F.layer_norm(X, X.shape[-1:], p["gain2"], p["bias2"])
    att = ((a @ p["Wq"]) @ (a @ p["Wk"]).T / p["Wq"].shape[-1] ** 0.5).softmax(-1) @ (a @ p["Wv"]) @ p["Wo"]
    return X + att + torch.relu(b @ p["W1"] + p["c1"]) @ p["W2"] + p["c2"]
