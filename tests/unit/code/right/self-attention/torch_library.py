import torch.nn.functional as F  # noqa: N812


def self_attention(X, Wq, Wk, Wv, causal=False):
    return F.scaled_dot_product_attention((X @ Wq)[None], (X @ Wk)[None], (X @ Wv)[None], is_causal=causal)[0]
