import torch


def online_softmax(m, l, o, x, V):
    m_new = torch.maximum(m, x.amax(1))
    p = torch.exp(x - m_new[:, None])
    total = l * torch.exp(m - m_new) + p.sum(1)
    return m_new, m_new + total.log(), o * torch.exp(m - m_new)[:, None] + p @ V
