# tries: return a pickle as bytes, in case somebody loads it
# stopped by: decoder
# expect: unsupported returned
# proof: malformed
# control: status

import pickle


class Bomb:
    def __reduce__(self):
        return eval, ("1/0",)


def softmax(x, axis=-1):
    return pickle.dumps(Bomb())
