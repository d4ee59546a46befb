"""Implicit steps of stiff equations against SciPy's Radau at tight tolerances, as Inputs/exact.npz has it.

usage: order.py EXAMPLES FOLDER     FOLDER: for what rnnc writes
       order.py --make              writes Inputs/exact.npz; needs NumPy and SciPy

Where the step is halved the error must shrink as the order of the method says. Both schedules run to the end, with the
same bits.
"""
import math
import pathlib
import sys

from values import INPUTS, npz, rnnc

EXECUTION = pathlib.Path(__file__).parent.parent / "Execution/Inputs"

EXACT = INPUTS / "exact.npz"


class Oscillator:
    """Van der Pol's: from its start through a jump near 807 and on behind it."""
    exact, order = "van_der_pol", 1
    MU, END, EVERY, JUMP = 1000, 1200, 25, (805, 808)

    def times(self):
        return [t for t in range(self.EVERY, self.END + 1, self.EVERY) if not self.JUMP[0] - 10 < t < self.JUMP[1] + 10]

    def make(self, solve):
        def slope(_, s):
            return [s[1], self.MU * (1 - s[0] ** 2) * s[1] - s[0]]

        def jacobian(_, s):
            return [[0, 1], [-2 * self.MU * s[0] * s[1] - 1, self.MU * (1 - s[0] ** 2)]]

        return solve(slope, (0, self.END), [2, 0], "Radau", self.times(), jac=jacobian)


class Strides(Oscillator):
    """The example, with steps that are longer than the jump: the order shows on the slow part before it."""
    name, state, coarse, most = "van_der_pol", "y", 2, 1e-3
    shown = 700 // Oscillator.EVERY

    def call(self, n):
        return ["--const", f"dt={1 / n}"], "force", [0.0] * (self.END * n)

    def places(self, n):
        return [t * n - 1 for t in self.times()]


class Jump(Oscillator):
    """Steps of 1 / n, and of 1 / (8000 n) through the jump, in the slope's variables: errors are of the jump's time."""
    name, state, coarse, most, shown = "VanDerPol", "x", 2, 0.05, None

    def steps(self, n):
        """All of them, and how many there are at each of times()."""
        sizes, taken = [], []
        for begin, end, size in ((0, self.JUMP[0], 1 / n), (*self.JUMP, 1 / (8000 * n)), (self.JUMP[1], self.END, 1 / n)):
            for i in range(1, round((end - begin) / size) + 1):
                sizes.append(size)
                if i % n == 0 and size * n == 1 and begin + i // n in self.times():
                    taken.append(len(sizes))
        return sizes, taken

    def call(self, n):
        return ["--cell", "VanDerPol"], "h", self.steps(n)[0]

    def places(self, n):
        return [count - 1 for count in self.steps(n)[1]]


class Clipper:
    """The example over 5 ms of 1 kHz, 1 V at +24 dB, with n steps a sample."""
    name = exact = "diode_clipper"
    state, order, coarse, most, shown = "v", 2, 16, 5e-3, None
    R, C, I_S, V_T, RATE, SAMPLES, AMPLITUDE = 2200, 1e-8, 2.52e-9, 0.0453, 48000, 240, 10 ** (24 / 20)

    def signal(self, t):
        return self.AMPLITUDE * math.sin(2 * math.pi * 1000 * t)

    def make(self, solve):
        def slope(t, v):
            return (self.signal(t) - v) / (self.R * self.C) - 2 * self.I_S / self.C * math.sinh(v[0] / self.V_T)

        times = [(k + 1) / self.RATE for k in range(self.SAMPLES)]
        return solve(slope, (0, times[-1]), [0], "Radau", times, max_step=1e-6)

    def call(self, n):
        rate = self.RATE * n
        return ["--const", f"rate={rate}"], "x", [self.signal((k + 1) / rate) for k in range(self.SAMPLES * n)]

    def places(self, n):
        return [(k + 1) * n - 1 for k in range(self.SAMPLES)]


def make():
    import numpy
    from scipy.integrate import solve_ivp

    def solve(*arguments, **options):
        result = solve_ivp(*arguments, rtol=1e-11, atol=1e-13, **options)
        assert result.success
        return result.y[0]

    numpy.savez_compressed(EXACT, **{case.exact: case.make(solve) for case in (Oscillator(), Clipper())})


def solve(case, examples, folder, n):
    """The state at every step, which both schedules agree on."""
    options, name, numbers = case.call(n)
    source = EXECUTION / "implicit.rnn" if "--cell" in options else examples / f"{case.name}.rnn"
    given = folder / f"{case.name}.{n}.npz"
    npz.write(given, {name: ((1, len(numbers), 1), numbers)})
    found = []
    for schedule in ("sequential", "parallel"):
        result = folder / f"{case.name}.{n}.{schedule}.npz"
        rnnc("run", source, *options, "--input", given, "--output", result, "--dtype", "f64", "--schedule", schedule,
             "--tolerance", 0)
        found.append(npz.read(result)[case.state][1])
    if found[0].tobytes() != found[1].tobytes():
        raise RuntimeError(f"{case.name}: the schedules differ")
    return found[0]


def check(case, examples, folder):
    expected = npz.read(EXACT, None)[case.exact][1]
    errors = []
    for n in (case.coarse, 2 * case.coarse):
        found = solve(case, examples, folder, n)
        errors.append([abs(found[k] - e) for k, e in zip(case.places(n), expected, strict=True)])
    coarse, fine = (max(error[: case.shown]) for error in errors)
    order, worst = math.log2(coarse / fine), max(map(max, errors))
    passed = worst <= case.most and abs(order - case.order) < 0.2 * case.order
    print("ok" if passed else "FAILED", f"{case.name:<14} {coarse:.2e} and {fine:.2e} off: order {order:.2f}; {worst:.2e} at most")
    return passed


def main(examples, folder):
    examples, folder = pathlib.Path(examples), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    cases = (Strides(), Jump(), Clipper())
    failed = sum(not check(case, examples, folder) for case in cases)
    print(f"{len(cases)} methods, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(make() if sys.argv[1:] == ["--make"] else main(*sys.argv[1:]))
