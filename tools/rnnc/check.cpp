// rnnc check: prove the derivatives and the schedules.
#include "check/check.h"
#include "console.h"
#include "source.h"
#include "verbs.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

using namespace rnnc;
using namespace rnnc::tool;

/// Columns, a mark where a proof failed, and a last line with the count.
static void printTable(const check::Rows& rows, double seconds) {
  size_t first = 0, second = 0;
  for (const check::Row& row : rows) {
    first = std::max(first, row.check.size());
    second = std::max(second, row.subject.size());
  }
  size_t failed = 0;
  for (const check::Row& row : rows) {
    failed += !row.passed;
    fmt::print("{:<{}}  {:<{}}  {}  {}\n", row.check, first, row.subject, second,
               row.passed ? "ok  " : "FAIL", row.result);
  }
  fmt::print("{} checks, {} failed, {}\n", rows.size(), failed, secondsText(seconds));
}

static void printJson(const check::Rows& rows, const std::string& cell) {
  nlohmann::json list = nlohmann::json::array();
  for (const check::Row& row : rows)
    list.push_back({{"check", row.check},
                    {"subject", row.subject},
                    {"passed", row.passed},
                    {"result", row.result}});
  fmt::print("{}\n", nlohmann::json{{"cell", cell}, {"checks", list}}.dump(2));
}

int rnnc::tool::runCheck(const Options& options) {
  Console console(options);
  if (int status = checkSupported(options, console))
    return status;
  auto start = std::chrono::steady_clock::now();
  Source source(options, console);
  if (int status = source.load())
    return status;
  if (!source.cell())
    return console.error("check needs the .rnn file or the Rnn dialect: the interpreter runs that");
  mlir::OwningOpRef<mlir::ModuleOp> newton;
  std::unique_ptr<CompiledCell> f32, f64;
  if (int status = source.lower(RNN_F64, newton))
    return status;
  if (int status = source.compile(RNN_F32, f32))
    return status;
  if (int status = source.compile(RNN_F64, f64))
    return status;
  check::Subject subject{source.cell(), *newton->getOps<newton::CellOp>().begin(),
                         f32.get(),     f64.get(),
                         options.seed,  options.params,
                         options.dims};
  check::Rows rows;
  for (auto proof : {check::checkDerivatives, check::checkCarries, check::checkStructure,
                     check::checkOracle, check::checkSchedules})
    for (check::Row& row : proof(subject))
      rows.push_back(std::move(row));
  if (options.json)
    printJson(rows, source.cellName());
  else
    printTable(rows,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  bool passed = std::all_of(rows.begin(), rows.end(), [](const check::Row& r) { return r.passed; });
  return passed ? kFine : kFailure;
}
