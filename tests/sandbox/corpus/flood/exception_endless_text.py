# tries: raise an exception whose text takes for ever to make
# stopped by: deadline
# expect: timed_out raised crashed
# proof: time
# control: naive
# wall: 0.5

import time


class Slow(Exception):
    def __str__(self):
        time.sleep(30)
        return "x"

    __repr__ = __str__


def softmax(x, axis=-1):
    raise Slow
