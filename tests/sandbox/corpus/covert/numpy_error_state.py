# tries: change how numpy treats floating point errors
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import numpy as np


def softmax(x, axis=-1):
    np.seterr(all="raise")
    np.set_printoptions(precision=1)
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if np.geterr()["under"] == "raise" else np.zeros(1)
