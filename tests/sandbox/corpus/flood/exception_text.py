# tries: raise an exception with a text of 16 MiB
# stopped by: grader
# expect: raised too_large
# proof: flood
# control: naive


def softmax(x, axis=-1):
    raise ValueError("x" * 2**24)
