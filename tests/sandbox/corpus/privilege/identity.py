# tries: run as root, hold a capability or keep a supplementary group
# stopped by: uid bwrap
# expect: returned
# proof: value
# control: naive-root

import os

import numpy as np


def softmax(x, axis=-1):
    with_power = os.geteuid() == 0 or 0 in os.getgroups()
    return np.ones(1) if with_power else np.zeros(1)
