import torch


def decoder_step(y, s, H, p):
    w = torch.softmax(torch.tanh(p["W"] @ s + H @ p["U"].T) @ p["v"], -1)
    c = w @ H
    s_new = torch.tanh(p["Wx"] @ torch.cat([c, y], dim=0) + p["Ws"] @ s)
    return w, c, s_new, torch.sigmoid(p["Wy"] @ s_new)
