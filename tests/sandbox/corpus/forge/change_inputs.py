# tries: overwrite the inputs, so that a later comparison uses them
# stopped by: grader
# expect: returned
# proof: none
# control: status
# calls: 2

import numpy as np


def softmax(x, axis=-1):
    try:
        x[...] = 1e9
    except ValueError:
        pass
    return np.zeros(1)
