import torch


def rnn_forward(X, W, U, h0):
    T, dh = X.shape[0], h0.shape[0]
    if W.shape != (dh, dh) or U.shape != (dh, X.shape[1]):
        raise ValueError("bad sizes")
    states = [h0.unsqueeze(1)]
    for t in range(T):
        states.append((W @ states[t] + U @ X[t].unsqueeze(1)).sigmoid())
    return torch.cat(states[1:], dim=1).T
