# tries: define no softmax, but a module __getattr__ that says there is one
# stopped by: grader
# expect: missing returned raised
# proof: none
# control: status

import sys

import numpy as np


def __getattr__(name):
    return lambda *args, **kwargs: np.zeros(1)

sys.modules[__name__] if __name__ in sys.modules else None
