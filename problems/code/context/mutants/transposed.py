import numpy as np


def context(weights, H):
    return weights @ H.T


def context_summed_features(weights, H):
    return (weights[..., np.newaxis] * H).sum(axis=-1)


def context_features(weights, H):
    return (weights * H).sum(axis=0)


def context_features_last(weights, H):
    return (weights * H).sum(axis=-1)


def context_where_it_fits(weights, H):
    return weights @ (H.T if H.shape[0] == H.shape[1] else H)
