# tries: abort
# stopped by: fork
# expect: crashed
# proof: dies
# control: naive

import os


def softmax(x, axis=-1):
    os.abort()
