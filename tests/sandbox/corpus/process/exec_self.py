# tries: execute /proc/self/exe
# stopped by: seccomp
# expect: returned
# proof: replaced
# control: naive

import os

import numpy as np


def softmax(x, axis=-1):
    try:
        os.execv("/proc/self/exe", ["python", "-S", "-c", "import os; os._exit(7)"])
    except OSError:
        return np.zeros(1)
