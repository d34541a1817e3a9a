"""Sections 6 and 7 of the Law School Admission Test (Bock and Lieberman 1970), with published results.

Students with each pattern of answers, from 00000 to 11111; the first item is the leftmost bit.
"""

from __future__ import annotations

import numpy as np

SECTION_6 = (
    3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15,
    10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298,
)  # fmt: skip
SECTION_7 = (
    12, 19, 1, 7, 3, 19, 3, 17, 10, 5, 3, 7, 7, 23, 8, 28,
    7, 39, 11, 34, 14, 51, 15, 90, 6, 25, 7, 35, 18, 136, 32, 308,
)  # fmt: skip
ITEMS = ("Item 1", "Item 2", "Item 3", "Item 4", "Item 5")

# the R package ltm, version 1.1: descript() and summary(ltm(LSAT ~ z1))
SHARE = (0.924, 0.709, 0.553, 0.763, 0.870)
WITH_ITEM = (0.3620, 0.5668, 0.6184, 0.5344, 0.4354)
WITHOUT_ITEM = (0.1128, 0.1532, 0.1728, 0.1444, 0.1216)
ALPHA, ALPHA_WITHOUT = 0.2950, (0.2754, 0.2376, 0.2168, 0.2459, 0.2663)
LOG_LIKELIHOOD, AIC, BIC = -2466.653, 4953.307, 5002.384
DIFFICULTY, SLOPE = (-3.360, -1.370, -0.280, -1.866, -3.124), (0.825, 0.723, 0.890, 0.689, 0.658)
DIFFICULTY_ERROR = (0.8669, 0.3073, 0.0997, 0.4341, 0.8700)
SLOPE_ERROR = (0.2581, 0.1867, 0.2326, 0.1852, 0.2100)
# one slope: Thissen 1982 and ltm's rasch(); the variance of ability at slope 1 is its square
COMMON_SLOPE, COMMON_INTERCEPTS = 0.755, (2.73, 0.999, 0.24, 1.306, 2.099)
# the R package mirt on section 7: coef(), the printed fit, and itemfit(mincell = 0)
SLOPE_7, INTERCEPT_7 = (0.988, 1.081, 1.706, 0.765, 0.736), (1.856, 0.808, 1.804, 0.486, 1.855)

LOG_LIKELIHOOD_7, G_7, G_PROBABILITY_7 = -2658.805, 31.70, 0.0628
S_X2_7 = (4.7492, 14.4529, 1.2703, 5.2373, 0.9407)


def answers(counts: tuple[int, ...]) -> np.ndarray:
    """Return right (1) and wrong (0) answers; shape (students, items)."""
    rows = [[int(bit) for bit in f"{code:05b}"] for code, many in enumerate(counts) for _ in range(many)]
    return np.array(rows, dtype=float)
