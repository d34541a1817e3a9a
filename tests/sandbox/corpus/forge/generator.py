# tries: return a generator that never ends
# stopped by: decoder
# expect: unsupported raised
# proof: malformed
# control: status


def softmax(x, axis=-1):
    while True:
        yield 1.0
