"""Constants of sine and cosine: pi/2 in parts, polynomials, and the bits of 1/(2 pi)."""

import mpmath as mp

from minimax import Fit, round_to

mp.mp.prec = 200
# A quarter turn to either side and a little more: rounding n = x / (pi/2) is inexact for large n.
EDGE = mp.pi / 4 * mp.mpf("1.012")


def parts(value, bits):
    """`value` as a sum of numbers with the given bits, each the rest of those before it."""
    result = []
    with mp.workprec(400):
        rest = value
        for count in bits:
            result.append(round_to(rest, count))
            rest -= result[-1]
    return result


def sine_tail(u):
    r = mp.sqrt(u)
    return (mp.sin(r) - r) / r**3 if u > mp.mpf(10) ** -20 else -mp.mpf(1) / 6 + u / 120


def cosine_tail(u):
    return (mp.cos(mp.sqrt(u)) - 1 + u / 2) / u**2 if u > mp.mpf(10) ** -10 else mp.mpf(1) / 24 - u / 720


def words(count):
    """The first bits of 1/(2 pi), 32 a word, after a word of zeros."""
    with mp.workprec(32 * count + 64):
        value = 1 / (2 * mp.pi)
        whole = int(mp.floor(value * mp.mpf(2) ** (32 * (count - 1))))
    return [(whole >> (32 * (count - 1 - i))) & 0xFFFFFFFF for i in range(count)]


def constants():
    with mp.workprec(400):
        half_pi, two_pi = mp.pi / 2, 2 * mp.pi
    for name, bits, short, sine, cosine in (("f32", 24, 13, 3, 3), ("f64", 53, 33, 6, 6)):
        yield f"half_pi_{name}", "pi/2 in parts", parts(half_pi, [bits] * 3)
        yield (
            f"half_pi_short_{name}",
            f"pi/2 in parts; {bits - short}-bit multiples of all but the last are exact",
            parts(half_pi, [short, short, short, bits]),
        )
        edge = EDGE**2
        terms, error = Fit(sine_tail, 0, edge, lambda u: u * mp.sqrt(u) / mp.sin(mp.sqrt(u)) if u else mp.mpf(0)).rounded(
            list(range(sine)), bits
        )
        yield (
            f"sine_tail_{name}",
            f"(sin(r) - r) / r^3 in r^2; relative error of sin(r) 2^{mp.nstr(mp.log(error, 2), 4)}",
            list(terms.values()),
        )
        terms, error = Fit(cosine_tail, 0, edge, lambda u: u * u).rounded(list(range(cosine)), bits)
        yield (
            f"cosine_tail_{name}",
            f"(cos(r) - 1 + r^2 / 2) / r^4 in r^2; error of cos(r) 2^{mp.nstr(mp.log(error, 2), 4)}",
            list(terms.values()),
        )
    yield "two_pi", "2 pi in parts of 26, 27 and 53 bits", parts(two_pi, [26, 27, 53])
    yield "turn_words", "1/(2 pi): a word of zeros, then its bits, 32 a word", words(40)
