# tries: return a list nested 100,000 deep
# stopped by: decoder
# expect: too_large unsupported raised
# proof: malformed
# control: status


def softmax(x, axis=-1):
    nest = []
    for _ in range(100_000):
        nest = [nest]
    return nest
