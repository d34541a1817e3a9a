# tries: switch core dumps on and crash, to leave memory in a file
# stopped by: rlimits
# expect: returned
# proof: value
# control: status

import resource

import numpy as np


def softmax(x, axis=-1):
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (2**20, 2**20))
    except (OSError, ValueError):
        return np.zeros(1)
    return np.ones(1)
