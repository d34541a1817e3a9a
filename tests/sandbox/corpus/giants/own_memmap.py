# tries: an array mapped from /dev/zero without an end
# stopped by: landlock bwrap decoder
# expect: returned unsupported too_large raised
# proof: malformed
# control: status

import numpy as np


def softmax(x, axis=-1):
    try:
        return np.memmap("/dev/zero", dtype=np.uint8, mode="r", shape=(2**34,))
    except (OSError, ValueError):
        return np.zeros(1)
