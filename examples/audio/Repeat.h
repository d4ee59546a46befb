// A recording, again and again.
#pragma once

#include "data/Array.h"

namespace audio {

/// `frames` frames of a recording of shape (frames of its own, at least 1; channels), which starts
/// again at its end.
rnnc::data::Result<rnnc::data::HostArray> repeated(const rnnc::data::HostArray& recording,
                                                   int64_t frames);

} // namespace audio
