#include "core/report.hpp"

#include "core/plan.hpp"
#include "core/status.hpp"
#include "core/versioned.hpp"

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
  return r;
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
    const auto* header = static_cast<const ReportHeader*>(workspace);
    if (header->magic != ReportHeader::magicValue) {
      invalid("rnn_report_read: the workspace holds no report; run rnn_forward first");
    }
    writeVersioned(header->report, out, "rnn_report");
    return RNN_OK;
  });
}
