# tries: a dtype whose size differs between machines
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status

import numpy as np


def softmax(x, axis=-1):
    return np.zeros(3, dtype=np.longdouble)
