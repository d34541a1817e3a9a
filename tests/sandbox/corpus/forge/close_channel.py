# tries: close only its line to the grader and go on, to look like a victim of the machine
# stopped by: grader
# expect: crashed
# proof: malformed
# control: status

import os
import time

import numpy as np


def softmax(x, axis=-1):
    os.close(3)
    time.sleep(0.2)
    return np.zeros(1)
