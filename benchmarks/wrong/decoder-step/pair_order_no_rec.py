import torch


def decoder_step(y, s, H, p):
    w = torch.softmax(torch.tanh(p["W"] @ s + H @ p["U"].T) @ p["v"], -1)
    c = w @ H
    s_new = torch.tanh(p["Wx"] @ torch.cat([y, c]))
    return w, c, s_new, torch.softmax(p["Wy"] @ s_new, -1)
