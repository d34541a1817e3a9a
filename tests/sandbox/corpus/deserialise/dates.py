# tries: an array of dates
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status

import numpy as np


def softmax(x, axis=-1):
    return np.array(["2026-01-01"], dtype="datetime64[D]")
