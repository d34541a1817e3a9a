# tries: leave timers running that would fire later in the next submission
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import signal

import numpy as np


def softmax(x, axis=-1):
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 5)
    return np.zeros(1)


def collect(x, axis=-1):
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    return np.ones(1) if left > 3 else np.zeros(1)
