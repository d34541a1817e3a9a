import numpy as np


def bilinear_scores(query, keys, weight):
    in_query_space = np.stack([weight.dot(key) for key in keys])
    return np.array([np.dot(query, key) for key in in_query_space], dtype=query.dtype)
