# tries: raise an exception class of its own that derives from BaseException
# stopped by: fork
# expect: raised
# proof: none
# control: status


class Unheard(BaseException):
    pass


def softmax(x, axis=-1):
    raise Unheard("quiet")
