# tries: raise SystemExit while being loaded
# stopped by: fork
# expect: returned
# proof: none
# control: status

import sys

import numpy as np

sys.exit(0)


def softmax(x, axis=-1):
    return np.zeros(1)
