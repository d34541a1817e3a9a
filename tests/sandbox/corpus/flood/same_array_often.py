# tries: return one array a thousand times in one list
# stopped by: decoder
# expect: too_large
# proof: malformed
# control: status

import numpy as np


def softmax(x, axis=-1):
    one = np.zeros(2**16)
    return [one for _ in range(1000)]
