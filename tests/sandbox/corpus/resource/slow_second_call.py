# tries: lose the marks of the other calls by hanging in one of them
# stopped by: deadline
# expect: returned timed_out not_run
# proof: time
# control: naive
# calls: 3
# wall: 1

import time

import numpy as np

_calls = 0


def softmax(x, axis=-1):
    global _calls
    _calls += 1
    if _calls == 2:
        time.sleep(30)
    return np.zeros(1)
