from numpy import dot, fromiter, r_, tanh


def concat_scores(q, K, W1, w2):
    return fromiter((dot(w2, tanh(dot(W1, r_[q, k]))) for k in K), dtype=K.dtype, count=K.shape[0])
