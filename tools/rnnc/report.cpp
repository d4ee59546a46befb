#include "report.h"

#include "rnnc/Complex.h"

#include <fmt/format.h>

#include <cmath>

using namespace rnnc;
using namespace rnnc::tool;

const char* rnnc::tool::scheduleName(rnn_schedule schedule) {
  return schedule == RNN_SCHEDULE_PARALLEL     ? "parallel"
         : schedule == RNN_SCHEDULE_SEQUENTIAL ? "sequential"
                                               : "auto";
}

const char* rnnc::tool::vectorName(rnn_vector vector) {
  return vector == RNN_VECTOR_CHUNKS ? "chunks" : vector == RNN_VECTOR_LANES ? "lanes" : "auto";
}

const char* rnnc::tool::tilesName(rnn_tiles tiles) {
  return tiles == RNN_TILES_PARALLEL   ? "parallel"
         : tiles == RNN_TILES_SEQUENCE ? "sequence"
                                       : "auto";
}

const char* rnnc::tool::dtypeName(rnn_dtype dtype) {
  const char* const names[] = {"f32", "f64", "bf16", "f16"};
  return names[dtype];
}

static std::string plural(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string rnnc::tool::planText(const rnn_plan_info& info) {
  std::string lanes = plural(info.lanes, "lane");
  if (info.device == RNN_DEVICE_CUDA && info.schedule != RNN_SCHEDULE_PARALLEL)
    return fmt::format("sequential: {}, {} a block", lanes, info.width);
  if (info.device == RNN_DEVICE_CUDA)
    return fmt::format("parallel: {}, {} a block, tiles in {}, {} of {} a tile, tolerance {:.3g}",
                       lanes, info.width, tilesName(info.tiles), plural(info.chunks, "chunk"),
                       plural(info.chunk, "step"), info.tolerance);
  if (info.schedule != RNN_SCHEDULE_PARALLEL)
    return fmt::format("sequential: {}, {} a vector", lanes, info.width);
  return fmt::format("parallel: {}, {} {} a vector, tiles in {}, {} of {} a tile, tolerance {:.3g}",
                     lanes, info.width, vectorName(info.vector), tilesName(info.tiles),
                     plural(info.chunks, "chunk"), plural(info.chunk, "step"), info.tolerance);
}

Json rnnc::tool::planJson(const rnn_plan_info& info) {
  Json json{{"schedule", scheduleName(info.schedule)},
            {"vector", vectorName(info.vector)},
            {"tiles", tilesName(info.tiles)},
            {"chunk", info.chunk},
            {"chunks", info.chunks},
            {"lanes", info.lanes},
            {"groups", info.groups},
            {"width", info.width},
            {"tolerance", info.tolerance}};
  json["estimated_seconds_sequential"] = info.seconds_sequential;
  json["estimated_seconds_parallel"] = info.seconds_parallel;
  return json;
}

std::string rnnc::tool::sweepsText(const rnn_report& r) {
  std::string text =
      fmt::format("{:.3g} a tile, at most {}; {}; a lane agreed after {:.3g}", r.sweeps_mean,
                  r.sweeps_max, plural(r.tiles, "tile"), r.lane_sweeps_mean);
  if (r.outer_sweeps)
    text += fmt::format("; {} over all tiles", plural(r.outer_sweeps, "outer sweep"));
  if (r.tiles_slow)
    text += fmt::format("; {} needed more than 4", plural(r.tiles_slow, "tile"));
  if (r.tiles_walked)
    text += fmt::format("; {} walked sequentially", plural(r.tiles_walked, "tile"));
  return text + fmt::format("; largest mismatch {:.3g}", r.mismatch_max);
}

Json rnnc::tool::reportJson(const rnn_report& r) {
  return {{"tiles", r.tiles},
          {"sweeps_mean", r.sweeps_mean},
          {"sweeps_max", r.sweeps_max},
          {"lane_sweeps_mean", r.lane_sweeps_mean},
          {"tiles_slow", r.tiles_slow},
          {"tiles_walked", r.tiles_walked},
          {"outer_sweeps", r.outer_sweeps},
          {"mismatch_max", r.mismatch_max},
          {"first_nonfinite", r.first_nonfinite},
          {"unconverged_tile", r.unconverged_tile},
          {"unsolved_step", r.unsolved_step},
          {"unsolved_system", r.unsolved_system},
          {"unsolved_lane", r.unsolved_lane}};
}

Json rnnc::tool::sizesJson(const CallSizes& sizes) {
  Json json{{"batch", sizes.batch}, {"time", sizes.time}, {"dims", Json::object()}};
  for (auto& [name, size] : sizes.dims)
    if (name != kComplexDim)
      json["dims"][name] = size;
  return json;
}

double rnnc::tool::laneSteps(const rnn_plan_info& info, const CallSizes& sizes) {
  return static_cast<double>(info.lanes) * static_cast<double>(sizes.time);
}

void rnnc::tool::printLine(const char* word, const std::string& text) {
  fmt::print("{:<12}{}\n", word, text);
}

std::string rnnc::tool::dumpJson(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
