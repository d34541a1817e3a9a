import torch


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, Q, K, V):
        W = torch.softmax(Q @ K.T / Q.shape[1] ** 0.5, 1)
        ctx.save_for_backward(Q, K, V, W)
        return W @ V

    @staticmethod
    def backward(ctx, G):
        Q, K, V, W = ctx.saved_tensors
        dW = G @ V.T
        dS = W * (dW - (dW * W).sum(1, keepdim=True)) / Q.shape[1] ** 0.5
        return dS @ K, dS.T @ Q, W.T @ G


def sdpa_grad(Q, K, V, G):
    inputs = [A.detach().requires_grad_() for A in (Q, K, V)]
    return torch.autograd.grad(Attention.apply(*inputs), inputs, grad_outputs=G)
