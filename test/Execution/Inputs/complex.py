"""Draws the arguments of complex.rnn's cells, and compares their results with the equations in
Python's complex numbers.

usage: complex.py draw FOLDER
       complex.py compare FOLDER ENDING f|d TOLERANCE     of CELL-ENDING.npz, relative, |a - b| / (1 + |b|)
       complex.py go-on FOLDER    the last steps of Every, from the state that Every-first.npz ends with
       complex.py joined FOLDER   Every-first.npz and Every-rest.npz are Every-f32.npz, bit for bit
"""
import cmath
import math
import random
import sys

sys.dont_write_bytecode = True
import npz

BATCH, TIME, N = 2, 12, 3
FIRST = 5  # steps of a call that another one goes on from
SHAPES = {  # of complex arrays, and of real ones
    "Lru": ({"u": (BATCH, TIME, N)}, {"nu": (N,), "theta": (N,)}),
    "Every": ({"u": (BATCH, TIME, N), "w": (N,)}, {"x": (BATCH, TIME, N)}),
    "Matrix": ({"W": (2, 2)}, {"x": (BATCH, TIME, 2)}),
    "Start": ({"u": (BATCH, TIME, N), "s0": (N,), "g": ()}, {}),
    "Implicit": ({"u": (BATCH, TIME, N)}, {}),
}


def lru(given, near):
    for b in range(BATCH):
        for i in range(N):
            s = 0j
            eigen = cmath.exp(complex(-math.exp(given["nu"][i]), math.exp(given["theta"][i])))
            for t in range(TIME):
                at = (b * TIME + t) * N + i
                s = eigen * s + math.sqrt(1 - abs(eigen) ** 2) * given["u"][at]
                near("s", at, s)


def every(given, near):
    for b in range(BATCH):
        for i in range(N):
            s, w = 0j, given["w"][i]
            for t in range(TIME):
                at = (b * TIME + t) * N + i
                x = given["x"][at]
                z = s / (2 + w) + 0.5 * given["u"][at].conjugate()
                q = cmath.exp(0.1 * (z if x > 0 else -z)) - 1
                s = 0.4 * (q ** 2 + complex(x, 1) / (q + 3) - x)
                near("s", at, s)
                near("y", at, (s + 2) ** -2)
                near("r", at, abs(s) + cmath.phase(s + 2) + s.real - s.imag)


def matrix(given, near):
    W = given["W"]
    for b in range(BATCH):
        s = [0j, 0j]
        for t in range(TIME):
            at = b * TIME + t
            x = given["x"][2 * at:2 * at + 2]
            joined = [s[1], x[0]]
            s = [0.3 * (W[i] * joined[0] + W[2 + i] * joined[1]) + x[i] for i in range(2)]
            for i in range(2):
                near("s", 2 * at + i, s[i])
            near("y", at, (s[0] + s[1]) * (s[0] * x[1] + s[1] * x[1]) / 2)


def start(given, near):
    u, (g,) = given["u"], given["g"]
    for b in range(BATCH):
        s, earlier, c = list(given["s0"]), list(given["s0"]), [0j] * N
        for t in range(TIME):
            at = (b * TIME + t) * N
            delayed = u[at - N:at] if t else [0j] * N
            c = [0.5 * z * cmath.rect(1, 0.3) + v for z, v in zip(c, delayed)]
            s, earlier = [0.3 * g * s[i] - 0.2 * earlier[i] + c[i].conjugate() + 0.1 for i in range(N)], s
            for i in range(N):
                near("s", at + i, s[i])
                near("y", at + i, s[i].real)
            size = math.sqrt(sum(abs(z) ** 2 for z in s))
            near("r", b * TIME + t, size + abs(sum(s)))


def implicit(given, near):
    for b in range(BATCH):
        for i in range(N):
            z = 0j
            for t in range(TIME):
                at, last = (b * TIME + t) * N + i, z
                for _ in range(100):
                    z = last + 0.1 * ((0.3 + 2j) * z - z * abs(z) ** 2 + given["u"][at])
                near("z", at, z)


def draw(folder):
    for cell, (pairs, reals) in SHAPES.items():
        random.seed(cell)
        normal = lambda: random.gauss(0, 0.5)
        arrays = {name: (shape, [complex(normal(), normal()) for _ in range(math.prod(shape))])
                  for name, shape in pairs.items()}
        arrays |= {name: (shape, [normal() for _ in range(math.prod(shape))]) for name, shape in reals.items()}
        npz.write(f"{folder}/{cell}.npz", arrays)
    given = npz.read(folder + "/Every.npz")
    shape, u = given["u"]
    npz.write(folder + "/pairs.npz", {"u": (shape + (2,), [part for z in u for part in (z.real, z.imag)])})
    npz.write(folder + "/real.npz", {"u": (shape, [z.real for z in u])})
    npz.write(folder + "/x.npz", {"x": (shape, u)})
    npz.write(folder + "/first.npz", {"w": given["w"]} | {name: steps(given[name], 0, FIRST) for name in ("u", "x")})


def compare(folder, ending, kind, tolerance):
    for cell, check in (("Lru", lru), ("Every", every), ("Matrix", matrix), ("Start", start),
                        ("Implicit", implicit)):
        given = {name: numbers for name, (_, numbers) in npz.read(f"{folder}/{cell}.npz").items()}
        got = npz.read(f"{folder}/{cell}-{ending}.npz", kind)

        def near(name, at, want):
            found = got[name][1][at]
            assert abs(found - want) <= tolerance * (1 + abs(want)), (cell, name, at, found, want)

        check(given, near)


def steps(array, begin, end):
    """Some steps of (batch, time, n)."""
    shape, numbers = array
    rows = (numbers[(b * shape[1] + begin) * shape[2]:(b * shape[1] + end) * shape[2]] for b in range(shape[0]))
    return (shape[0], end - begin, shape[2]), [number for row in rows for number in row]


def go_on(folder):
    given = npz.read(f"{folder}/Every.npz")
    (batch, time, n), s = steps(npz.read(f"{folder}/Every-first.npz", "f")["s"], FIRST - 1, FIRST)
    rest = {name: steps(given[name], FIRST, TIME) for name in ("u", "x")}
    npz.write(f"{folder}/rest.npz", rest | {"w": given["w"], "s": ((batch, n), s)})


def joined(folder):
    whole, first, rest = (npz.read(f"{folder}/Every-{name}.npz", "f") for name in ("f32", "first", "rest"))
    for name in whole:
        assert steps(whole[name], 0, FIRST) == steps(first[name], 0, FIRST), name
        assert steps(whole[name], FIRST, TIME) == steps(rest[name], 0, TIME - FIRST), name


if sys.argv[1] == "draw":
    draw(sys.argv[2])
elif sys.argv[1] == "go-on":
    go_on(sys.argv[2])
elif sys.argv[1] == "joined":
    joined(sys.argv[2])
else:
    compare(*sys.argv[2:5], float(sys.argv[5]))
