# tries: return an object whose repr is endless
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status

import time


class Endless:
    def __repr__(self):
        time.sleep(30)
        return "x"

    __str__ = __format__ = __hash__ = __repr__

    def __eq__(self, other):
        time.sleep(30)
        return True


def softmax(x, axis=-1):
    return Endless()
