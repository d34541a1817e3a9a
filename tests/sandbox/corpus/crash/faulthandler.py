# tries: overflow the C stack with faulthandler's own test function
# stopped by: fork
# expect: crashed out_of_memory
# proof: dies
# control: naive

import faulthandler


def softmax(x, axis=-1):
    faulthandler._stack_overflow()
