# tries: lift its own limits to the hard ones and beyond, then take 6 GiB
# stopped by: rlimits seccomp
# expect: returned
# proof: value
# control: naive

import resource

import numpy as np


def softmax(x, axis=-1):
    for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_NPROC):
        soft, hard = resource.getrlimit(limit)
        for wanted in ((hard, hard), (resource.RLIM_INFINITY, resource.RLIM_INFINITY)):
            try:
                resource.setrlimit(limit, wanted)
            except (OSError, ValueError):
                continue
    try:
        giant = np.zeros(6 * 2**27)
    except MemoryError:
        return np.zeros(1)
    return np.ones(1) if giant.size else np.zeros(1)
