def bilinear_scores(q, K, W):
    return K @ (W @ q) / K.shape[1] ** 0.5


def bilinear_scores_where_it_fits(q, K, W):
    if W.shape[0] == W.shape[1]:
        W = W.T
    return K @ (W.T @ q) / K.shape[1] ** 0.5
