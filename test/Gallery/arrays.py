"""Reads NumPy's archives of real and complex numbers without NumPy."""
import ast
import struct
import zipfile

KINDS = {"<f4": ("f", 1), "<f8": ("d", 1), "<c8": ("f", 2), "<c16": ("d", 2)}


def read(path):
    """Name -> (shape, numbers), the numbers of a complex array as pairs."""
    arrays = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            data = file.read(name)
            assert data[:6] == b"\x93NUMPY", f"{path}: {name}"
            wide = data[6] > 1
            (length,) = struct.unpack("<I" if wide else "<H", data[8 : 12 if wide else 10])
            begin = (12 if wide else 10) + length
            header = ast.literal_eval(data[begin - length : begin].decode())
            assert not header["fortran_order"], f"{path}: {name}"
            letter, parts = KINDS[header["descr"]]
            count = (len(data) - begin) // struct.calcsize(letter)
            numbers = struct.unpack(f"<{count}{letter}", data[begin:])
            shape = tuple(header["shape"]) + ((2,) if parts == 2 else ())
            arrays[name.removesuffix(".npy")] = (shape, numbers)
    return arrays
