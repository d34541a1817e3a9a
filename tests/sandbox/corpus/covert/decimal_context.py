# tries: leave another decimal context
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import decimal

import numpy as np


def softmax(x, axis=-1):
    decimal.getcontext().prec = 3
    decimal.DefaultContext.prec = 3
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if decimal.getcontext().prec == 3 else np.zeros(1)
