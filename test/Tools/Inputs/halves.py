"""What rnnc wrote of arrays of halves: types, and that both kinds of file hold the same numbers."""
import json
import struct
import sys
import zipfile

folder = sys.argv[1]


def safetensors(name):
    """The array `h` of the file: its type and its bits."""
    data = open(f"{folder}/{name}", "rb").read()
    (size,) = struct.unpack("<Q", data[:8])
    entry = json.loads(data[8 : 8 + size])["h"]
    begin, end = (8 + size + at for at in entry["data_offsets"])
    return entry["dtype"], data[begin:end]


def npy(data):
    """The header of a .npy file, and its bytes."""
    (size,) = struct.unpack("<H", data[8:10])
    return data[10 : 10 + size].decode(), data[10 + size :]


kind, bf16 = safetensors("bf16.safetensors")
header, wide = npy(open(f"{folder}/bf16.npy", "rb").read())
assert kind == "BF16" and "'<f4'" in header and "(2, 50, 3)" in header, (kind, header)
halves = struct.unpack(f"<{len(bf16) // 2}H", bf16)
assert struct.unpack(f"<{len(wide) // 4}I", wide) == tuple(half << 16 for half in halves)

kind, f16 = safetensors("f16.safetensors")
header, same = npy(zipfile.ZipFile(f"{folder}/f16.npz").read("h.npy"))
assert kind == "F16" and "'<f2'" in header and f16 == same, (kind, header)

# The same numbers up to the rounding of both.
pairs = list(zip(struct.unpack(f"<{len(f16) // 2}e", f16), struct.unpack(f"<{len(wide) // 4}f", wide)))
assert len(pairs) == 300 and max(abs(a - b) for a, b in pairs) < 0.02, pairs
assert max(abs(b) for _, b in pairs) > 0.1
