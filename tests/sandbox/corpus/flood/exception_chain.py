# tries: raise an exception with a chain of 100,000 causes
# stopped by: grader
# expect: raised crashed timed_out
# proof: none
# control: status
# wall: 3


def softmax(x, axis=-1):
    last = ValueError("first")
    for number in range(100_000):
        following = ValueError(str(number))
        following.__cause__ = last
        last = following
    raise last
