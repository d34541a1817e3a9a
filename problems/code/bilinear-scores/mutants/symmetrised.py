def bilinear_scores(q, K, W):
    return K @ ((W + W.T) / 2 @ q)


def bilinear_scores_sum(q, K, W):
    return K @ ((W + W.T) @ q)


def bilinear_scores_where_it_fits(q, K, W):
    if W.shape[0] == W.shape[1]:
        W = (W + W.T) / 2
    return K @ (W.T @ q)


def bilinear_scores_sum_where_it_fits(q, K, W):
    if W.shape[0] == W.shape[1]:
        W = W + W.T
    return K @ (W.T @ q)
