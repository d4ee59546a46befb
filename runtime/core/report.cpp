#include "core/report.hpp"

#include "core/plan.hpp"
#include "core/status.hpp"
#include "core/versioned.hpp"
#include "cuda/device_plan.hpp"

namespace rnnc::runtime {

void Tally::add(const Tally& other) {
  tiles += other.tiles;
  sweeps += other.sweeps;
  sweepsMax = std::max(sweepsMax, other.sweepsMax);
  laneSweeps += other.laneSweeps;
  laneTiles += other.laneTiles;
  slow += other.slow;
  walked += other.walked;
  outerSweeps = std::max(outerSweeps, other.outerSweeps);
  mismatch = std::max(mismatch, other.mismatch);
  nonfinite = std::min(nonfinite, other.nonfinite);
  unconvergedTile = std::min(unconvergedTile, other.unconvergedTile);
  unsolved.add(other.unsolved);
  unconvergedMismatch = std::max(unconvergedMismatch, other.unconvergedMismatch);
}

rnn_report Tally::report() const {
  rnn_report r{};
  r.size = sizeof(rnn_report);
  r.tiles = tiles;
  r.sweeps_mean = tiles ? double(sweeps) / double(tiles) : 0;
  r.sweeps_max = sweepsMax;
  r.lane_sweeps_mean = laneTiles ? double(laneSweeps) / double(laneTiles) : 0;
  r.tiles_slow = slow;
  r.tiles_walked = walked;
  r.outer_sweeps = outerSweeps;
  r.mismatch_max = mismatch;
  r.first_nonfinite = nonfinite == INT64_MAX ? -1 : nonfinite;
  r.unconverged_tile = unconvergedTile == INT64_MAX ? -1 : unconvergedTile;
  r.unsolved_step = unsolved.any() ? unsolved.step : -1;
  r.unsolved_system = unsolved.any() ? unsolved.system : -1;
  r.unsolved_lane = unsolved.any() ? unsolved.lane : -1;
  return r;
}

// A total of 0 means that nothing was begun.
void Progress::begin(double total) {
  constexpr double most = 0x1p62;
  std::atomic_ref(place_.done).store(0, std::memory_order_relaxed);
  std::atomic_ref(place_.total).store(static_cast<int64_t>(std::clamp(total, 1., most)));
}

void Progress::end() { std::atomic_ref(place_.done).store(std::atomic_ref(place_.total).load()); }

double Progress::fraction() const {
  const auto total = static_cast<double>(std::atomic_ref(place_.total).load());
  const auto done = static_cast<double>(std::atomic_ref(place_.done).load());
  return total > 0 ? std::clamp(done / total, 0., 1.) : 0;
}

} // namespace rnnc::runtime

using namespace rnnc::runtime;

rnn_status rnn_report_read(const rnn_plan* plan, const void* workspace, rnn_report* out) {
  return guarded([&] {
    if (!plan || !workspace || !out) {
      invalid("rnn_report_read: argument `{}` is null", !plan        ? "plan"
                                                        : !workspace ? "workspace"
                                                                     : "out");
    }
    if (plan->state->device) {
      writeVersioned(cuda::readReport(*plan->state, workspace), out, "rnn_report");
      return RNN_OK;
    }
    const auto* header = static_cast<const ReportHeader*>(workspace);
    if (header->magic != ReportHeader::magicValue) {
      invalid("rnn_report_read: the workspace holds no report; run rnn_forward first");
    }
    writeVersioned(header->report, out, "rnn_report");
    return RNN_OK;
  });
}

rnn_status rnn_progress_read(const rnn_plan* plan, const void* workspace, double* fraction) {
  return guarded([&] {
    if (!plan || !workspace || !fraction) {
      invalid("rnn_progress_read: argument `{}` is null", !plan        ? "plan"
                                                          : !workspace ? "workspace"
                                                                       : "fraction");
    }
    if (plan->state->device) {
      fail(RNN_UNSUPPORTED, "rnn_progress_read: nobody sees how far a CUDA device is");
    }
    // A reference to something const cannot be atomic before C++26; nothing is written.
    auto* header = static_cast<ReportHeader*>(const_cast<void*>(workspace));
    *fraction = Progress(header->progress).fraction();
    return RNN_OK;
  });
}
