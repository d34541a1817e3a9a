# tries: raise KeyboardInterrupt, which handlers for Exception miss
# stopped by: fork
# expect: raised
# proof: none
# control: status


def softmax(x, axis=-1):
    raise KeyboardInterrupt
