import torch


def sdpa_grad(Q, K, V, G):
    d = K.shape[-1]
    attn = (Q @ K.T / d**0.5).softmax(dim=-1)
    grad_values = attn.T @ G
    grad_attn = G @ V.T
    grad_queries = grad_attn @ K / d**0.5
    grad_keys = grad_attn.T @ Q / d**0.5
    return grad_queries, grad_keys, grad_values
