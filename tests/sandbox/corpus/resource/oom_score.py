# tries: make the kernel prefer to kill it last by writing its oom_score_adj
# stopped by: landlock bwrap rlimits
# expect: returned
# proof: value
# control: naive

import numpy as np


def softmax(x, axis=-1):
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
    except OSError:
        return np.zeros(1)
    return np.ones(1)
