# tries: return a coroutine
# stopped by: decoder
# expect: unsupported raised
# proof: malformed
# control: status

import numpy as np


async def softmax(x, axis=-1):
    return np.zeros(1)
