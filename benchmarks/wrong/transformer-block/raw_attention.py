import torch
import torch.nn.functional as F


def transformer_block(X, p):
    Q, K, V = X @ p["Wq"], X @ p["Wk"], X @ p["Wv"]
    X = X + F.scaled_dot_product_attention(Q[None], K[None], V[None])[0] @ p["Wo"]
    H = F.layer_norm(X, X.shape[-1:], p["gain2"], p["bias2"])
    return X + F.relu(H @ p["W1"] + p["c1"]) @ p["W2"] + p["c2"]
