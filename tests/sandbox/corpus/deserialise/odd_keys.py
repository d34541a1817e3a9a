# tries: a dict whose keys are no texts
# stopped by: decoder
# expect: unsupported raised
# proof: malformed
# control: status


def softmax(x, axis=-1):
    return {1: 1.0, None: 2.0, (1, 2): 3.0}
