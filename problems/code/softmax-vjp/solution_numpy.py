def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError(f"w {w.shape} and g {g.shape} differ")
    return w * (g - (w * g).sum(axis=-1, keepdims=True))
