# tries: return a dict of 300,000 keys
# stopped by: decoder
# expect: too_large
# proof: malformed
# control: status


def softmax(x, axis=-1):
    return {str(number): number for number in range(300_000)}
