import torch


def transformer_block(X, p):
    Q, K, V = X @ p["Wq"], X @ p["Wk"], X @ p["Wv"]
    Y = torch.softmax(Q @ K.T / Q.shape[1] ** 0.5, dim=1) @ V @ p["Wo"]
    return torch.relu(Y @ p["W1"] + p["c1"]) @ p["W2"] + p["c2"]
