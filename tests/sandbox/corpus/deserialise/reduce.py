# tries: return an object that runs a command when it is unpickled
# stopped by: decoder
# expect: unsupported
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
    return Bomb(TARGET["mark"])
