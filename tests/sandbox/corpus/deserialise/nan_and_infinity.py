# tries: NaN with payloads, infinities and negative zero, which JSON can't say
# stopped by: grader
# expect: returned
# proof: malformed
# control: status

import numpy as np


def softmax(x, axis=-1):
    odd = np.array([0x7FF8DEADBEEF0001, 0xFFF0000000000000, 0x8000000000000000], dtype=np.uint64)
    return [odd.view(np.float64), float("nan"), float("inf"), -0.0]
