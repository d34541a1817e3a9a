from functools import reduce

import torch


def rnn_forward(X, W, U, h0):
    dh = h0.numel()
    if W.shape != (dh, dh) or U.shape[0] != dh:
        raise ValueError((W.shape, U.shape))
    inputs = torch.einsum("tx,hx->th", X, U) if U.shape[1] == X.shape[1] else X @ U.T

    def extend(states, u):
        z = torch.einsum("ij,j->i", W, states[-1]) + u
        return [*states, 0.5 * torch.tanh(0.5 * z) + 0.5]

    return torch.stack(reduce(extend, inputs, [h0])[1:])
