# tries: recurse without end
# stopped by: fork
# expect: raised
# proof: none
# control: status


def softmax(x, axis=-1):
    return softmax(x, axis)
