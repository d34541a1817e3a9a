# tries: return lists of lists of one list: 10**9 leaves in a few hundred bytes
# stopped by: decoder
# expect: too_large timed_out
# proof: malformed
# control: status
# wall: 3


def softmax(x, axis=-1):
    laugh = [0.0] * 10
    for _ in range(8):
        laugh = [laugh] * 10
    return laugh
