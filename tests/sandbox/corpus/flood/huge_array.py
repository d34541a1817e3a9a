# tries: return 16 MiB where the cap is 1 MiB
# stopped by: decoder
# expect: too_large
# proof: flood
# control: naive

import numpy as np


def softmax(x, axis=-1):
    return np.zeros(2**21)
