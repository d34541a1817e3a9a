# tries: answer the alarm that stops a call with a handler that returns
# stopped by: deadline
# expect: timed_out
# proof: time
# control: naive
# wall: 0.5

import signal
import time

import numpy as np


def softmax(x, axis=-1):
    for number in (signal.SIGALRM, signal.SIGXCPU, signal.SIGTERM, signal.SIGVTALRM, signal.SIGPROF):
        signal.signal(number, lambda *args: None)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        time.sleep(0.01)
    return np.ones(1)
