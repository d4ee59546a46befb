"""Changes the last number of a .npy file of f32."""
import struct
import sys

data = bytearray(open(sys.argv[1], "rb").read())
data[-4:] = struct.pack("<f", struct.unpack("<f", data[-4:])[0] + 1)
open(sys.argv[1], "wb").write(data)
