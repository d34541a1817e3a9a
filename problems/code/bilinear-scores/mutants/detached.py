import torch


def bilinear_scores(q, K, W):
    return K @ (W.T.detach() @ q)


def bilinear_scores_query(q, K, W):
    return K @ (W.T @ q.detach())


def bilinear_scores_keys(q, K, W):
    return K.detach() @ (W.T @ q)


def bilinear_scores_projected(q, K, W):
    return K @ torch.matmul(W.T, q).detach()
