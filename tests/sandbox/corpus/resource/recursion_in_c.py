# tries: overflow the C stack through nested iterators
# stopped by: fork
# expect: crashed out_of_memory
# proof: dies
# control: naive

import itertools
import sys

import numpy as np


def softmax(x, axis=-1):
    sys.setrecursionlimit(2**31 - 1)
    chain = iter(())
    for _ in range(5 * 10**5):
        chain = itertools.chain(chain, ())
    return np.array(list(chain))
