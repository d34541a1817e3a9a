import torch


def online_softmax(m, l, o, x, V):
    new_m = torch.cat([m.unsqueeze(1), x], dim=1).max(dim=1).values
    alpha = (m - new_m).exp()
    p = (x - new_m.unsqueeze(1)).exp()
    new_l = torch.addcmul(p.sum(dim=1), alpha, l)
    new_o = torch.addmm(alpha.unsqueeze(1) * o, p, V)
    return new_m, new_l, new_o
