import torch


def online_softmax(m, l, o, x, V):
    # FlashAttention keeps O normalised
    m_ij = x.max(dim=-1).values
    m_new = torch.maximum(m, m_ij)
    p = torch.exp(x - m_new[:, None])
    l_new = torch.exp(m - m_new) * l + p.sum(dim=-1)
    o_new = (torch.exp(m - m_new)[:, None] * o + p @ V) / l_new[:, None]
    return m_new, l_new, o_new
