# tries: an object whose array interface points to address 16
# stopped by: decoder
# expect: unsupported
# proof: dies
# control: naive-encode


class Wild:
    shape = (1000,)
    __array_interface__ = {"data": (16, True), "shape": (1000,), "typestr": "<f8", "version": 3}


def softmax(x, axis=-1):
    return Wild()
