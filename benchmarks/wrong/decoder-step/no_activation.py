import torch


def decoder_step(y, s, H, p):
    energy = torch.einsum("a,na->n", p["v"], (H @ p["U"].T + p["W"] @ s).tanh())
    w = energy.softmax(-1)
    c = torch.einsum("n,nd->d", w, H)
    s_new = p["Wx"] @ torch.cat([c, y]) + p["Ws"] @ s
    P = (p["Wy"] @ s_new).softmax(-1)
    return (w, c, s_new, P)
