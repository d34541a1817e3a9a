# tries: return a string of 64 MiB
# stopped by: decoder
# expect: too_large
# proof: malformed
# control: status


def softmax(x, axis=-1):
    return "x" * 2**26
