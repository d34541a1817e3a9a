# tries: ignore every signal that a polite limit would send, then spin
# stopped by: deadline
# expect: timed_out
# proof: time
# control: naive
# wall: 0.5

import signal
import time

import numpy as np


def softmax(x, axis=-1):
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.alarm(0)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        pass
    return np.ones(1)
