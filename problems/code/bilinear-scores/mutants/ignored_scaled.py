def bilinear_scores(q, K, W):
    return K @ q / K.shape[1] ** 0.5
