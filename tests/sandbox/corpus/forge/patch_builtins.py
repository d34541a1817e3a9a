# tries: replace builtins that a grader in the same process would use
# stopped by: fork
# expect: returned protocol_violation crashed unsupported raised too_large timed_out
# proof: next
# control: naive
# pair: same
# wall: 3

import builtins

import numpy as np


def softmax(x, axis=-1):
    builtins.sum = lambda *args: 10**9
    builtins.abs = lambda thing: 0.0
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if abs(-5) == 0.0 else np.zeros(1)
