import torch
import torch.nn.functional as F


def sdpa(Q, K, V, mask=None):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
