# tries: end the process with a good exit status and no answer
# stopped by: fork
# expect: crashed
# proof: dies
# control: naive

import os


def softmax(x, axis=-1):
    os._exit(0)
