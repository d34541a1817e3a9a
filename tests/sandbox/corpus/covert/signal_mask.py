# tries: leave blocked signals and a handler
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import signal

import numpy as np


def softmax(x, axis=-1):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    return np.zeros(1)


def collect(x, axis=-1):
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    return np.ones(1) if signal.SIGUSR2 in blocked else np.zeros(1)
