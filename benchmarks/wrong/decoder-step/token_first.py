import torch
import torch.nn.functional as F


def decoder_step(y, s, H, p):
    scores = []
    for h in H:
        scores.append(torch.dot(p["v"], torch.tanh(p["W"] @ s + p["U"] @ h)))
    w = F.softmax(torch.stack(scores), dim=0)
    c = (w.unsqueeze(1) * H).sum(0)
    s_new = torch.tanh(p["Wx"] @ torch.cat([y, c]) + p["Ws"] @ s)
    P = F.softmax(p["Wy"] @ s_new, dim=0)
    return w, c, s_new, P
