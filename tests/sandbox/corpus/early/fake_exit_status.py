# tries: end with the exit status that stands for a fault of the sandbox itself
# stopped by: grader
# expect: crashed
# proof: malformed
# control: status

import os


def softmax(x, axis=-1):
    os._exit(71)
