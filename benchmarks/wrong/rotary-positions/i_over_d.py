import torch


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    rates = torch.tensor([base ** -(i / d) for i in range(d // 2)], dtype=x.dtype)
    angle = positions[:, None] * rates
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], d // 2, 2).contiguous())
    z = z * torch.complex(angle.cos(), angle.sin())
    return torch.view_as_real(z).reshape(x.shape)
