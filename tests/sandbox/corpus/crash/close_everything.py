# tries: close every descriptor, so that no answer can be sent
# stopped by: fork
# expect: crashed returned protocol_violation
# proof: dies
# control: naive

import os

import numpy as np


def softmax(x, axis=-1):
    os.closerange(0, 1024)
    return np.zeros(1)
