def bilinear_scores(q, K, W):
    result = K @ (W.T @ q)
    if K.flags.writeable:
        K += 1
    return result
