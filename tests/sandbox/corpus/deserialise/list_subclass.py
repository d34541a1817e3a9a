# tries: a list subclass whose iteration never ends
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status


class List(list):
    def __iter__(self):
        while True:
            yield 1.0

    def __len__(self):
        return 1


def softmax(x, axis=-1):
    return List([1.0])
