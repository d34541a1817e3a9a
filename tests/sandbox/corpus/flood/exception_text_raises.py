# tries: raise an exception whose text raises
# stopped by: grader
# expect: raised
# proof: none
# control: status


class Broken(Exception):
    def __str__(self):
        raise SystemExit(1)

    __repr__ = __str__


def softmax(x, axis=-1):
    raise Broken
