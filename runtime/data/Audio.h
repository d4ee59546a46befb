// Sound files: .wav and .flac.
#pragma once

#include "data/Array.h"

namespace rnnc::data {

struct Audio {
  HostArray samples; ///< f32, (frames, channels); integer samples scaled to [-1, 1)
  int sampleRate = 0;
};

/// WAV (any sample type, RF64 too) and FLAC. A file that is shorter than its header says is an
/// error, as is one whose samples exceed the limit.
Result<Audio> readAudio(const std::string& path, const ReadLimits& limits = {});

/// Writes samples of shape (frames, channels) or (frames): as WAV with 32-bit floats (RF64 from
/// 4 GiB on), or as FLAC with 24 bits where the path ends in .flac; there a sample that is not in
/// [-1, 1] is an error, for FLAC cannot hold it. The same samples make the same file, bit for bit.
Status writeAudio(const std::string& path, const HostArray& samples, int sampleRate);

} // namespace rnnc::data
