# tries: hide the same object in an object array
# stopped by: decoder
# expect: unsupported
# proof: file
# control: naive-pickle

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


class Bomb:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (self.mark,)


def softmax(x, axis=-1):
    return np.array([Bomb(TARGET["mark"])], dtype=object)
