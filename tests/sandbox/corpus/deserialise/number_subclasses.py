# tries: numbers and texts of classes of its own, equal to everything
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status


class Float(float):
    def __eq__(self, other):
        return True

    def __float__(self):
        return 1.0

    def __lt__(self, other):
        return True


def softmax(x, axis=-1):
    return Float(0.0)
