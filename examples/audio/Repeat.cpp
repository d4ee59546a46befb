#include "Repeat.h"

#include <algorithm>

namespace audio {

using namespace rnnc::data;

Result<HostArray> repeated(const HostArray& recording, int64_t frames) {
  int64_t channels = recording.shape[1];
  Result<HostArray> result = allocate(recording.dtype, {frames, channels});
  if (!result)
    return result;
  size_t period = recording.bytes.size();
  for (size_t at = 0; at < result->bytes.size(); at += period)
    std::copy_n(recording.bytes.begin(), std::min(period, result->bytes.size() - at),
                result->bytes.begin() + static_cast<std::ptrdiff_t>(at));
  return result;
}

} // namespace audio
