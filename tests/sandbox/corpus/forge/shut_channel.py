# tries: close its line to the grader in one call of several, so that all of them are taken back
# stopped by: grader
# expect: returned crashed
# proof: malformed
# control: status
# calls: 3

import os

import numpy as np

_calls = 0


def softmax(x, axis=-1):
    global _calls
    _calls += 1
    if _calls == 2:
        os.close(3)
    return np.zeros(1)
