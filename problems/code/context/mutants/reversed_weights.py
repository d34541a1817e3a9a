def context(weights, H):
    return weights[..., ::-1] @ H
