# tries: return a list that contains itself
# stopped by: decoder
# expect: too_large unsupported raised
# proof: malformed
# control: status


def softmax(x, axis=-1):
    loop = []
    loop.append(loop)
    return loop
