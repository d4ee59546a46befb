"""NumPy's arrays of numbers, written and read without NumPy: name -> (shape, numbers, row-major).

Complex numbers are Python's, of two numbers of the kind "f" (f32) or "d" (f64).
"""
import array
import ast
import struct
import zipfile

TYPES = {"<f4": ("f", 1), "<f8": ("d", 1), "<c8": ("f", 2), "<c16": ("d", 2)}


def npy(shape, numbers, kind="d"):
    """A .npy file, of complex numbers where there is one among them."""
    numbers = list(numbers)
    parts = 1
    if any(isinstance(z, complex) for z in numbers):
        parts, numbers = 2, [part for z in numbers for part in (z.real, z.imag)]
    (descr,) = (name for name, known in TYPES.items() if known == (kind, parts))
    header = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array.array(kind, numbers).tobytes()


def write(path, arrays, kind="d"):
    with zipfile.ZipFile(path, "w") as file:
        for name, (shape, numbers) in arrays.items():
            file.writestr(name + ".npy", npy(shape, numbers, kind))


def read(path, kind="d"):
    """Every array has to be of that kind; None: either will do."""
    arrays = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            data = file.read(name)
            assert data[:8] == b"\x93NUMPY\x01\x00", f"{path}: {name}"
            length = struct.unpack("<H", data[8:10])[0]
            header = ast.literal_eval(data[10 : 10 + length].decode())
            letter, parts = TYPES[header["descr"]]
            assert kind in (None, letter) and not header["fortran_order"], header
            numbers = array.array(letter, data[10 + length :])
            if parts == 2:
                numbers = [complex(*pair) for pair in zip(numbers[::2], numbers[1::2])]
            arrays[name.removesuffix(".npy")] = (tuple(header["shape"]), numbers)
    return arrays
