import torch


def hard_alignment(A):
    rows = []
    for row in A:
        j = int((row == row.max()).nonzero()[0])
        hard = row.new_zeros(len(row))
        hard[j] = 1
        rows.append(hard)
    return torch.stack(rows)
