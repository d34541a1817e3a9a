# tries: delete the function that was asked for after loading, by a name that is huge
# stopped by: grader
# expect: missing raised returned
# proof: none
# control: status

import numpy as np

globals()["x" * 10**6] = 1


def softmax(x, axis=-1):
    return np.zeros(1)

del softmax
