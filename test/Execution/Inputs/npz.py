"""NumPy's archives of float64 arrays, written and read without NumPy: name -> (shape, flat list)."""
import array
import ast
import struct
import zipfile


def write(path, arrays):
    with zipfile.ZipFile(path, "w") as file:
        for name, (shape, numbers) in arrays.items():
            header = repr({"descr": "<f8", "fortran_order": False, "shape": tuple(shape)})
            header += " " * (63 - (len(header) + 10) % 64) + "\n"
            file.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                          header.encode() + array.array("d", numbers).tobytes())


def read(path):
    arrays = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            data = file.read(name)
            length = struct.unpack("<H", data[8:10])[0]
            header = ast.literal_eval(data[10 : 10 + length].decode())
            assert header["descr"] == "<f8" and not header["fortran_order"], header
            numbers = array.array("d", data[10 + length :]).tolist()
            arrays[name.removesuffix(".npy")] = (header["shape"], numbers)
    return arrays
