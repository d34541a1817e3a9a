import torch
import torch.nn.functional as F


def transformer_block(X, p):
    H = F.layer_norm(X, X.shape[-1:], p["gain1"], p["bias1"])
    Q, K, V = H @ p["Wq"], H @ p["Wk"], H @ p["Wv"]
    X = X + F.scaled_dot_product_attention(Q[None], K[None], V[None])[0] @ p["Wo"]
    return X + F.relu(X @ p["W1"] + p["c1"]) @ p["W2"] + p["c2"]
