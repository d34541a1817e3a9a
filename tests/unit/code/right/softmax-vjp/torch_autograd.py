import torch


def softmax_vjp(w, g):
    """Weights come from the scores log w, so autograd can do it; log 0 = -inf is a hidden score."""
    if w.shape != g.shape:
        raise ValueError("w and g")
    with torch.enable_grad():
        tiny = torch.finfo(w.dtype).tiny
        scores = torch.log(w.detach().clamp_min(tiny)).requires_grad_()
        again = torch.softmax(scores, dim=-1)
        (gradient,) = torch.autograd.grad(again, scores, g.detach())
    return torch.where(w > 0, gradient, torch.zeros_like(gradient))
