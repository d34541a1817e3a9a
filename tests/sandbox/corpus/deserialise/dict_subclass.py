# tries: a dict subclass that reports other items than it holds, and runs code when unpickled
# stopped by: decoder
# expect: unsupported
# proof: file
# control: naive-pickle

import os

TARGET: dict = {}  # the arena fills this in


class Dict(dict):
    def items(self):
        while True:
            yield ("a", 1)

    def __reduce__(self):
        return os.mkdir, (self["mark"],)


def softmax(x, axis=-1):
    return Dict(mark=TARGET["mark"])
