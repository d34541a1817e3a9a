# tries: negative strides, which torch refuses and a byte copy reverses
# stopped by: decoder
# expect: returned
# proof: exact
# value: 3.5 2.5 1.5
# control: status

import numpy as np


def softmax(x, axis=-1):
    return np.array([1.5, 2.5, 3.5])[::-1]
