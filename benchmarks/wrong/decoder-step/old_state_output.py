import torch


def decoder_step(y, s, H, p):
    w = torch.softmax(torch.tanh(p["W"] @ s + H @ p["U"].T) @ p["v"], 0)
    c = H.T @ w
    state = torch.tanh(p["Wx"] @ torch.cat([c, y]) + p["Ws"] @ s)
    P = torch.softmax(p["Wy"] @ s, 0)
    return w, c, state, P
