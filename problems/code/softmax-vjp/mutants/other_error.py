def right(w, g):
    if w.shape != g.shape:
        raise ValueError(f"w {w.shape} and g {g.shape} differ")
    return w * (g - (w * g).sum(axis=-1, keepdims=True))


def softmax_vjp(w, g):
    try:
        return right(w, g)
    except ValueError as error:
        raise AssertionError(str(error)) from None
