# tries: make printing raise or loop
# stopped by: fork
# expect: returned
# proof: none
# control: status

import sys

import numpy as np


class Loud:
    def write(self, text):
        raise RuntimeError("no")

    def flush(self):
        raise RuntimeError("no")

    def __getattr__(self, name):
        raise RuntimeError("no")


def softmax(x, axis=-1):
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Loud()
    return np.zeros(1)
