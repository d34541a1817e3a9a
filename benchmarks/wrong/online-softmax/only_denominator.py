import torch


def online_softmax(m, l, o, x, V):
    m_new = torch.max(m, x.max(1).values)
    p = (x - m_new.unsqueeze(-1)).exp()
    l = torch.exp(m - m_new) * l + p.sum(-1)  # rescale old sum
    return m_new, l, o + p.matmul(V)
