# tries: an empty array that claims an axis of 2**62
# stopped by: decoder
# expect: too_large unsupported returned protocol_violation raised
# proof: malformed
# control: status

import numpy as np


def softmax(x, axis=-1):
    return np.broadcast_to(np.zeros((0, 1)), (0, 2**62))
