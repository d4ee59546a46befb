// One array in a .npy file, as NumPy writes it.
//
// Read: format versions 1 to 3, little-endian floats of 16, 32 and 64 bits, integers of 8 to 64
// bits and bool, in C or Fortran order. Files are not trusted: nothing is allocated before the size
// that the header claims is found to be the size that the file has.
#pragma once

#include "data/Array.h"

namespace rnnc::data {

class ByteSource;

Result<HostArray> readNpy(const std::string& path, const ReadLimits& limits = {});
/// The same from any source, all of which has to be one .npy file.
Result<HostArray> readNpy(ByteSource& source, const ReadLimits& limits = {});

Status writeNpy(const std::string& path, const HostArray& array);

} // namespace rnnc::data
