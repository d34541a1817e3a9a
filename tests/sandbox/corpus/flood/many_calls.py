# tries: return just under the cap from every call, so that the sum is over it
# stopped by: grader decoder
# expect: returned too_large
# proof: flood
# control: naive
# calls: 12

import numpy as np


def softmax(x, axis=-1):
    return np.zeros(2**17 - 4096)
