# tries: a structured array with an object field
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status

import numpy as np


def softmax(x, axis=-1):
    return np.array([(1.0, [1])], dtype=[("a", "f8"), ("b", "O")])
