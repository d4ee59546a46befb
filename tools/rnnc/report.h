// What a run or a plan was, as text and as JSON.
#pragma once

#include "solver.h"

#include <nlohmann/json.hpp>

namespace rnnc::tool {

using Json = nlohmann::ordered_json;

const char* scheduleName(rnn_schedule schedule);
const char* vectorName(rnn_vector vector);
const char* tilesName(rnn_tiles tiles);
const char* dtypeName(rnn_dtype dtype);

/// "parallel: vectors of 64 lanes, tiles in sequence, 16 chunks of 64 steps a tile, tolerance 0"
std::string planText(const rnn_plan_info& info);
Json planJson(const rnn_plan_info& info);

/// "2.1 a tile, at most 3; 64 tiles"
std::string sweepsText(const rnn_report& report);
Json reportJson(const rnn_report& report);

Json sizesJson(const CallSizes& sizes);

/// Steps of lanes, the unit of steps/s.
double laneSteps(const rnn_plan_info& info, const CallSizes& sizes);

/// Prints `text` as a line of a report, under its word.
void printLine(const char* word, const std::string& text);

std::string dumpJson(const Json& json);

} // namespace rnnc::tool
