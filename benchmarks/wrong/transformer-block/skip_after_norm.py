import torch
import torch.nn.functional as F


def transformer_block(X, p):
    X = F.layer_norm(X, X.shape[-1:], p["gain1"], p["bias1"])
    Q, K, V = X @ p["Wq"], X @ p["Wk"], X @ p["Wv"]
    X = X + torch.softmax(Q @ K.T / Q.shape[-1] ** 0.5, -1) @ V @ p["Wo"]
    X = F.layer_norm(X, X.shape[-1:], p["gain2"], p["bias2"])
    X = X + torch.relu(X @ p["W1"] + p["c1"]) @ p["W2"] + p["c2"]
    return X
