"""Minimax polynomials whose coefficients are machine numbers.

`fit` minimises max |w(x) (f(x) - sum_j c_j x^e_j)| over the Chebyshev nodes of an interval, a linear
programme: it needs no alternation, so weights with zeros and given terms are fine. The programme is
solved in double precision on the residual of the solution before it, which is computed in multiple
precision; two to four rounds reach the optimum. Coefficients are then rounded one at a time, lowest
power first, and after each rounding the ones still free are fitted again: they take up the error
that the rounding made.
"""

import mpmath as mp
import numpy as np
from scipy.optimize import linprog

mp.mp.prec = 200


def round_to(value, bits):
    """`value` rounded to `bits` significant bits, to nearest even."""
    with mp.workprec(bits):
        return +mp.mpf(value)


def literal(value):
    """A C++ hexadecimal literal of a number that a double holds exactly."""
    number = float(value)
    assert mp.mpf(number) == value, value
    mantissa, exponent = number.hex().split("p")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}p{int(exponent):+d}"


def chebyshev_nodes(low, high, count):
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mp.cos(mp.pi * k / (count - 1)) for k in range(count)]


class Fit:
    """One function on one interval; the values are computed once."""

    def __init__(self, function, low, high, weight=None, points=400):
        self.nodes = chebyshev_nodes(mp.mpf(low), mp.mpf(high), points)
        self.values = [function(x) for x in self.nodes]
        self.weights = [weight(x) if weight else mp.mpf(1) for x in self.nodes]
        self.scale = max(abs(self.nodes[0]), abs(self.nodes[-1]))

    def residuals(self, terms):
        """The weighted error of the polynomial {exponent: coefficient} at every node."""
        return [
            w * (f - sum(c * x**e for e, c in terms.items()))
            for x, f, w in zip(self.nodes, self.values, self.weights)
        ]

    def error(self, terms):
        return max(abs(r) for r in self.residuals(terms))

    def basis(self, free):
        """x^e0 T_k for the consecutive exponents from e0 on: as monomials, and at the nodes.

        Monomials themselves would be too much alike for double precision.
        """
        low, high = self.nodes[0], self.nodes[-1]
        slope, shift = 2 / (high - low), -(high + low) / (high - low)
        polynomials = [[mp.mpf(1)], [shift, slope]]
        while len(polynomials) < len(free):
            last, before = polynomials[-1], polynomials[-2]
            following = [2 * shift * c for c in last] + [mp.mpf(0)]
            for power, c in enumerate(last):
                following[power + 1] += 2 * slope * c
            for power, c in enumerate(before):
                following[power] -= c
            polynomials.append(following)
        columns = np.array(
            [
                [float(w * (x / self.scale) ** free[0] * mp.chebyt(k, slope * x + shift)) for k in range(len(free))]
                for x, w in zip(self.nodes, self.weights)
            ]
        )
        return polynomials[: len(free)], columns

    def improve(self, terms, free):
        """One linear programme: the best change of the free coefficients, to double precision."""
        residuals = self.residuals(terms)
        size = max(abs(r) for r in residuals)
        if size == 0:
            return dict(terms)
        goal = np.array([float(r / size) for r in residuals])
        polynomials, basis = self.basis(free)
        column = np.abs(basis).max(axis=0)
        basis /= column
        ones = np.ones((len(goal), 1))
        result = linprog(
            np.r_[np.zeros(len(free)), 1.0],
            A_ub=np.block([[-basis, -ones], [basis, -ones]]),
            b_ub=np.r_[-goal, goal],
            bounds=[(None, None)] * len(free) + [(0, None)],
            method="highs",
        )
        if result.x is None:
            return dict(terms)
        better = dict(terms)
        for polynomial, change, norm in zip(polynomials, result.x, column):
            factor = size * mp.mpf(change / norm) / self.scale ** free[0]
            for e, c in zip(free, polynomial):
                better[e] = better.get(e, mp.mpf(0)) + factor * c
        return better

    def optimum(self, fixed, free):
        """The real minimax coefficients with `fixed` terms given."""
        terms, best = dict(fixed), mp.inf
        terms.update({e: mp.mpf(0) for e in free})
        for _ in range(8):
            better = self.improve(terms, free)
            error = self.error(better)
            if error >= best:
                break
            done = error > best * mp.mpf("0.995")
            terms, best = better, error
            if done:
                break
        return terms, best

    def rounded(self, exponents, precisions, fixed=None):
        """Machine coefficients {exponent: value} and their largest weighted error.

        `precisions`: the bits of each coefficient, or one number for all of them.
        """
        if isinstance(precisions, int):
            precisions = [precisions] * len(exponents)
        chosen = dict(fixed or {})
        for i, (exponent, bits) in enumerate(zip(exponents, precisions)):
            terms, _ = self.optimum(chosen, exponents[i:])
            chosen[exponent] = round_to(terms[exponent], bits)
        return {e: chosen[e] for e in sorted(chosen)}, self.error(chosen)
