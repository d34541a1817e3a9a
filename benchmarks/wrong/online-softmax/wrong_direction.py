import torch


def online_softmax(m, l, o, x, V):
    m_new = torch.maximum(m, x.max(dim=1)[0])
    grow = torch.exp(m_new - m)
    grow = torch.where(torch.isinf(m), torch.zeros_like(grow), grow)
    p = torch.exp(x - m_new[:, None])
    return m_new, grow * l + p.sum(1), grow[:, None] * o + p @ V
