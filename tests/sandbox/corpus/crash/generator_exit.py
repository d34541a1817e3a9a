# tries: raise GeneratorExit
# stopped by: fork
# expect: raised
# proof: none
# control: status


def softmax(x, axis=-1):
    raise GeneratorExit
