# tries: return a list of a million numbers
# stopped by: decoder
# expect: too_large
# proof: malformed
# control: status


def softmax(x, axis=-1):
    return [1.0] * 10**6
