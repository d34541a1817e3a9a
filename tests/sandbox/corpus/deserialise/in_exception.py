# tries: hide it among the arguments of an exception
# stopped by: grader
# expect: raised
# proof: file
# control: naive-pickle

import os

TARGET: dict = {}  # the arena fills this in


class Bomb:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (self.mark,)


def softmax(x, axis=-1):
    raise ValueError(Bomb(TARGET["mark"]))
