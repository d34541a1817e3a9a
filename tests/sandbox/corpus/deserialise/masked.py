# tries: a masked array, whose hidden values compare as masked
# stopped by: decoder
# expect: returned
# proof: malformed
# control: status

import numpy as np


def softmax(x, axis=-1):
    return np.ma.masked_array([1.0, 2.0], mask=[True, True])
