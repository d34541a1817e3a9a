# tries: a str subclass that is another text at every look
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status


class Text(str):
    def encode(self, *args, **kwargs):
        return b"x" * 10**8

    def __len__(self):
        return 1


def softmax(x, axis=-1):
    return Text("right")
