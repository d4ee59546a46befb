// rnnc check: prove a cell's derivatives and schedules. The proofs are in check/.
#include "check/check.h"

#include "progress.h"
#include "report.h"
#include "source.h"
#include "verbs.h"

#include <fmt/format.h>

#include <chrono>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

/// The cell in every form, for both compute types.
class Checker {
public:
  Checker(const Options& options, const Console& console)
      : options(options), console(console), source(options, console) {}
  int run();

private:
  int compile();
  void prove(const check::Subject& subject);
  void print() const;
  Json json() const;

  const Options& options;
  const Console& console;
  Source source;
  mlir::OwningOpRef<mlir::ModuleOp> newton64;
  std::unique_ptr<CompiledCell> f32, f64;
  check::Rows rows;
  size_t failed = 0;
  double seconds = 0;
};

} // namespace

int Checker::compile() {
  if (int status = checkSupported(options, console))
    return status;
  source.takeGradients();
  if (int status = source.load())
    return status;
  if (!source.cell())
    return console.error(options.file + ": check needs the cell as it was written",
                         "give the .rnn file, or IR in the Rnn dialect");
  if (int status = source.lower(RNN_F64, newton64))
    return status;
  if (int status = source.compile(RNN_F32, f32))
    return status;
  return source.compile(RNN_F64, f64);
}

void Checker::print() const {
  size_t checkWidth = 0, subjectWidth = 0;
  for (const check::Row& row : rows) {
    checkWidth = std::max(checkWidth, row.check.size());
    subjectWidth = std::max(subjectWidth, row.subject.size());
  }
  fmt::print("{} of {}\n", source.cellName(), options.file);
  for (const check::Row& row : rows)
    fmt::print("{:<6} {:<{}}  {:<{}}  {}\n", row.passed ? "ok" : "FAILED", row.check, checkWidth,
               row.subject, subjectWidth, row.result);
  fmt::print("{} checks, {} failed, {}\n", rows.size(), failed, secondsText(seconds));
}

Json Checker::json() const {
  Json json{{"cell", source.cellName()},
            {"file", options.file},
            {"passed", failed == 0},
            {"seconds", seconds}};
  for (const check::Row& row : rows)
    json["checks"].push_back({{"check", row.check},
                              {"subject", row.subject},
                              {"result", row.result},
                              {"passed", row.passed}});
  return json;
}

void Checker::prove(const check::Subject& subject) {
  Progress progress("checking " + source.cellName());
  for (auto proof :
       {check::checkRules, check::checkDerivatives, check::checkCarries, check::checkProducts,
        check::checkStructure, check::checkOracle, check::checkSchedules, check::checkStreaming,
        check::checkSegments, check::checkGradients})
    for (check::Row& row : proof(subject))
      rows.push_back(std::move(row));
}

int Checker::run() {
  auto start = std::chrono::steady_clock::now();
  if (int status = compile())
    return status;
  check::Subject subject;
  subject.cell = source.cell();
  subject.newton64 = *newton64->getOps<newton::CellOp>().begin();
  subject.f32 = f32.get();
  subject.f64 = f64.get();
  subject.seed = options.seed;
  subject.params = options.params;
  subject.threads = options.threads;
  subject.isQuick = options.quick;
  prove(subject);
  for (const check::Row& row : rows)
    failed += !row.passed;
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json)
    fmt::print("{}", dumpJson(json()));
  else
    print();
  for (const check::Row& row : rows)
    if (!row.passed)
      console.error(
          fmt::format("{}: {} of {}: {}", options.file, row.check, row.subject, row.result));
  return failed ? kFailure : kFine;
}

int rnnc::tool::runCheck(const Options& options) {
  Console console(options);
  return Checker(options, console).run();
}
