import torch


def online_softmax(m, l, o, x, V):
    m_new = torch.maximum(m, x.max(dim=1).values)
    p = torch.exp(x - m_new[:, None])
    l_new = l + p.sum(dim=1)
    o_new = o + p @ V
    return m_new, l_new, o_new
