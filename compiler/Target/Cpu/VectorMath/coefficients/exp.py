"""Constants of the exponential and of everything made from it."""

import mpmath as mp

from minimax import Fit, round_to

# Reduced arguments lie in [-ln(2)/2, ln(2)/2] and a little more: rounding n = x / ln 2 is inexact.
EDGE = mp.log(2) / 2 * mp.mpf("1.001")


def tail(r):
    """(exp(r) - 1 - r) / r^2."""
    if abs(r) < mp.mpf(2) ** -60:
        return mp.mpf(1) / 2 + r / 6
    return (mp.expm1(r) - r) / r**2


def constants():
    def for_exp(r):
        return r * r / mp.exp(r)

    def for_expm1(r):
        return abs(r * r / mp.expm1(r)) if r else mp.mpf(0)

    for name, bits, plain, precise, reach in (("F32", 24, 5, 6, 8), ("F64", 53, 10, 11, 11)):
        ln2 = mp.log(2)
        high = round_to(ln2, bits)
        yield f"kLn2{name}", "ln 2 in two parts", [high, round_to(ln2 - high, bits)]
        high = round_to(ln2, bits - reach)
        yield (
            f"kLn2Short{name}",
            f"ln 2 in two parts; {reach}-bit multiples of the first are exact",
            [high, round_to(ln2 - high, bits)],
        )
        terms, error = Fit(tail, -EDGE, EDGE, for_exp).rounded(list(range(plain)), bits)
        yield (
            f"kExpTail{name}",
            f"(e^r - 1 - r) / r^2; relative error of e^r 2^{mp.nstr(mp.log(error, 2), 4)}",
            list(terms.values()),
        )
        terms, error = Fit(tail, -EDGE, EDGE, for_expm1).rounded(list(range(precise)), bits)
        yield (
            f"kExpm1Tail{name}",
            f"(e^r - 1 - r) / r^2; relative error of e^r - 1 2^{mp.nstr(mp.log(error, 2), 4)}",
            list(terms.values()),
        )

    # tanh(r) = r + r^3 p(r^2), |r| <= ln(2) / 4; the weight makes the error relative.
    def tanh_tail(u):
        r = mp.sqrt(u)
        return (mp.tanh(r) - r) / r**3 if u > mp.mpf(10) ** -20 else -mp.mpf(1) / 3 + 2 * u / 15

    for name, bits, count in (("F32", 24, 3), ("F64", 53, 8)):
        terms, error = Fit(tanh_tail, 0, (EDGE / 2) ** 2, lambda u: u).rounded(list(range(count)), bits)
        yield (
            f"kTanhTail{name}",
            f"(tanh(r) - r) / r^3 in r^2; relative error of tanh(r) 2^{mp.nstr(mp.log(error, 2), 4)}",
            list(terms.values()),
        )
