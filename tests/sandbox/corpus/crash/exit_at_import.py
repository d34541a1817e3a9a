# tries: leave quietly while being loaded
# stopped by: fork
# expect: load:crashed
# proof: dies
# control: naive

import os

import numpy as np

os._exit(0)


def softmax(x, axis=-1):
    return np.zeros(1)
