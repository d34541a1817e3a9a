def context(weights, H):
    return weights.reshape(-1, H.shape[0])[0] @ H


def context_flat(weights, H):
    return weights.reshape(-1, H.shape[0]) @ H if weights.ndim > 1 else weights @ H
