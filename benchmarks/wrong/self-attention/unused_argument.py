import torch
import torch.nn.functional as F


def self_attention(X, Wq, Wk, Wv, causal=False):
    out = F.scaled_dot_product_attention((X @ Wq)[None], (X @ Wk)[None], (X @ Wv)[None])
    return out[0]
