"""Constants of the logarithm."""

import mpmath as mp

from minimax import Fit, round_to

# The mantissa is split off so that it lies in [sqrt(1/2), sqrt(2)).
LOW, HIGH = mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(2) - 1


def tail(f):
    """(log(1 + f) - f) / f^2."""
    if abs(f) < mp.mpf(2) ** -60:
        return -mp.mpf(1) / 2 + f / 3
    return (mp.log1p(f) - f) / f**2


def constants():
    def relative(f):
        return abs(f * f / mp.log1p(f)) if f else mp.mpf(0)

    for name, bits, count in (("f32", 24, 9), ("f64", 53, 21)):
        fixed = {0: -mp.mpf(1) / 2}
        terms, error = Fit(tail, LOW, HIGH, relative).rounded(list(range(1, count)), bits, fixed)
        yield (
            f"log_tail_{name}",
            "(log(1 + f) - f + f^2 / 2) / f^3; "
            f"relative error of log(1 + f) 2^{mp.nstr(mp.log(error, 2), 4)}",
            [terms[e] for e in range(1, count)],
        )

    # log m = 2 atanh(s), s = (m - 1) / (m + 1): the power function's, whose leading terms are in twice
    # the precision.
    def atanh_tail(w):
        s = mp.sqrt(w)
        return (mp.atanh(s) / s - 1 - w / 3) / w**2 if w > mp.mpf(10) ** -12 else mp.mpf(1) / 5 + w / 7

    edge = (HIGH / (2 + HIGH)) ** 2
    terms, error = Fit(atanh_tail, 0, edge, lambda w: w**2).rounded(list(range(8)), 53)
    yield (
        "atanh_tail",
        f"(atanh(s) - s - s^3 / 3) / s^5 in s^2; relative error of atanh(s) "
        f"2^{mp.nstr(mp.log(error, 2), 4)}",
        list(terms.values()),
    )
    third = round_to(mp.mpf(1) / 3, 53)
    yield "third", "1/3 in two parts", [third, round_to(mp.mpf(1) / 3 - third, 53)]
