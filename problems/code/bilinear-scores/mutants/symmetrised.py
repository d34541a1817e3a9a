def bilinear_scores(q, K, W):
    return K @ ((W + W.T) / 2 @ q)


def bilinear_scores_sum(q, K, W):
    return K @ ((W + W.T) @ q)
