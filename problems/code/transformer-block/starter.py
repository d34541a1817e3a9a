import numpy as np  # or: import torch (then X and the arrays in p arrive as tensors; write torch.exp and so on)


def layer_norm(X, gain, bias):
    """Return every row of X with mean 0 and variance 1, times gain plus bias."""
    centred = X - X.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / (variance + 1e-5) ** 0.5 * gain + bias


def attention(X, Wq, Wk, Wv, Wo):
    """Return self-attention with one head."""
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    scores = Q @ K.T / Q.shape[-1] ** 0.5
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V @ Wo


def feed_forward(X, W1, c1, W2, c2):
    """Return the same small network of every row."""
    return np.maximum(X @ W1 + c1, 0) @ W2 + c2


def transformer_block(X, p):
    """Return one pre-norm Transformer block of the rows of X.

    X : (n, d)
    p : dict of gain1, bias1, gain2, bias2 (d,), Wq, Wk (d, dk), Wv (d, dv), Wo (dv, d), W1 (d, f), c1 (f,),
        W2 (f, d), c2 (d,)

    Returns: (n, d), in the dtype of the arguments.
    """
    raise NotImplementedError("write me")
