"""NumPy's arrays of numbers, written and read without NumPy: name -> (shape, numbers, row-major)."""
import array
import ast
import struct
import zipfile


def npy(shape, numbers, kind="d"):
    """A .npy file of f64, or of f32 with kind "f"."""
    numbers = array.array(kind, numbers)
    header = repr({"descr": f"<f{numbers.itemsize}", "fortran_order": False, "shape": tuple(shape)})
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + numbers.tobytes()


def write(path, arrays, kind="d"):
    with zipfile.ZipFile(path, "w") as file:
        for name, (shape, numbers) in arrays.items():
            file.writestr(name + ".npy", npy(shape, numbers, kind))


def read(path, kind="d"):
    """Every array has to be of that kind."""
    arrays = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            data = file.read(name)
            length = struct.unpack("<H", data[8:10])[0]
            header = ast.literal_eval(data[10 : 10 + length].decode())
            numbers = array.array(kind, data[10 + length :])
            assert header["descr"] == f"<f{numbers.itemsize}" and not header["fortran_order"], header
            arrays[name.removesuffix(".npy")] = (header["shape"], numbers)
    return arrays
