# tries: leave lower limits and a lower priority
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import resource

import numpy as np


def softmax(x, axis=-1):
    try:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 29), hard))
    except (OSError, ValueError):
        pass
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 29 else np.zeros(1)
