# tries: return an integer of a million digits
# stopped by: decoder
# expect: returned unsupported too_large raised
# proof: none
# control: status


def softmax(x, axis=-1):
    return 1 << (4 * 10**6)
