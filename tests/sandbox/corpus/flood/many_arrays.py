# tries: return many arrays, each under the cap
# stopped by: decoder
# expect: too_large
# proof: flood
# control: naive

import numpy as np


def softmax(x, axis=-1):
    return [np.zeros(2**16) for _ in range(40)]
