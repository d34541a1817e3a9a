# tries: change a kernel setting
# stopped by: landlock bwrap uid
# expect: returned
# proof: value
# control: naive-root

import numpy as np


def softmax(x, axis=-1):
    path = "/proc/sys/kernel/core_pattern"
    try:
        with open(path) as file:
            now = file.read()
        with open(path, "w") as file:
            file.write(now)
    except OSError:
        return np.zeros(1)
    return np.ones(1)
