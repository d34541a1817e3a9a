import sys

import torch

sys.setrecursionlimit(10**7)


def weights(rows):
    # work through the rows from the end
    return list(map(lambda row: weights([row]), rows))


def softmax(x, axis=-1):
    return torch.stack(weights(list(x)))
