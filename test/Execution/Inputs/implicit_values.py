"""Implicit steps against SciPy's implicit solvers.

usage: implicit_values.py reference FILE    solves both equations with SciPy and stores a few values
       implicit_values.py draw CELL N FILE  the cell's inputs at N steps a unit of the coarsest grid
       implicit_values.py compare CELL REFERENCE ORDER N COARSE FINE   what it gave, at N and 2 N

The error must shrink as the method's order says when steps are halved.
"""
import array
import math
import sys

sys.dont_write_bytecode = True
import dense

# Van der Pol, mu = 1000: the slow parts in steps of 1/N, the jump near 807 in steps of 1/(8000 N).
MU = 1000
SLOW, JUMP, END = 25, (805, 808), 1200
# The diode clipper: 5 ms of 1 kHz, 1 V at +24 dB.
FS, SAMPLES, AMPLITUDE = 44100, 220, 10 ** (24 / 20)


def slow_times():
    return [t for t in range(SLOW, END + 1, SLOW) if not JUMP[0] - 10 < t < JUMP[1] + 10]


def signal(t):
    return AMPLITUDE * math.sin(2 * math.pi * 1000 * t)


def steps(n):
    """Of Van der Pol, and how many have been taken at each of slow_times()."""
    sizes, taken, t = [], [], 0
    for begin, end, size in ((0, JUMP[0], 1 / n), (*JUMP, 1 / (8000 * n)), (JUMP[1], END, 1 / n)):
        for i in range(1, round((end - begin) / size) + 1):
            sizes.append(size)
            if i % n == 0 and size * n == 1 and begin + i // n in slow_times():
                taken.append(len(sizes))
    return sizes, taken


def reference(file):
    import numpy
    from scipy.integrate import solve_ivp

    def oscillator(t, s):
        return [s[1], MU * (1 - s[0] ** 2) * s[1] - s[0]]

    def jacobian(t, s):
        return [[0, 1], [-2 * MU * s[0] * s[1] - 1, MU * (1 - s[0] ** 2)]]

    def diode(t, v):
        return (signal(t) - v) / 2.2e-5 - 0.504 * numpy.sinh(v / 0.045)

    exact = {"rtol": 1e-11, "atol": 1e-13}
    x = solve_ivp(oscillator, (0, END), [2, 0], "Radau", slow_times(), jac=jacobian, **exact)
    times = [(k + 1) / FS for k in range(SAMPLES)]
    v = solve_ivp(diode, (0, times[-1]), [0], "Radau", times, max_step=1e-6, **exact)
    assert x.success and v.success
    numpy.savez_compressed(file, VanDerPol=x.y[0], Clipper=v.y[0])


def draw(cell, n, file):
    if cell == "VanDerPol":
        sizes = steps(n)[0]
        dense.write(file, {"h": ((1, len(sizes), 1), array.array("d", sizes))})
    else:
        x = [signal((k + 1) / (FS * n)) for k in range(SAMPLES * n)]
        dense.write(file, {"x": ((1, len(x)), array.array("d", x))})


def error(cell, expected, n, file):
    name = "x" if cell == "VanDerPol" else "v"
    found = doubles(file, name)
    places = steps(n)[1] if cell == "VanDerPol" else range(n, n * SAMPLES + 1, n)
    assert len(places) == len(expected)
    return max(abs(found[k - 1] - e) for k, e in zip(places, expected))


def doubles(file, name):
    shape, data = dense.read(file)[name]
    return array.array("d", bytes(data))


if sys.argv[1] == "reference":
    reference(sys.argv[2])
elif sys.argv[1] == "draw":
    draw(sys.argv[2], int(sys.argv[3]), sys.argv[4])
else:
    _, _, cell, file, order, n, coarse, fine = sys.argv
    expected = doubles(file, cell)
    errors = [error(cell, expected, int(n), coarse), error(cell, expected, 2 * int(n), fine)]
    shrinks = errors[0] / errors[1]
    print(f"{cell}: errors {errors[0]:.2e} and {errors[1]:.2e}, {shrinks:.2f} times smaller")
    assert errors[1] < 0.05 and 0.8 < math.log2(shrinks) / float(order) < 1.25
