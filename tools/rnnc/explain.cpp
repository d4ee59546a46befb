// rnnc explain: what was derived about a cell, and the schedule that follows; or the long text of
// an error code.
#include "check/place.h"
#include "report.h"
#include "source.h"
#include "verbs.h"

#include "Analysis/Cost.h"
#include "Analysis/Explain.h"
#include "Analysis/ExplainStages.h"
#include "Analysis/Formula.h"
#include "Analysis/LaneAxes.h"

#include <fmt/ranges.h>

#include <cctype>

using namespace rnnc;
using namespace rnnc::tool;

/// RNN0102, in any case.
static bool isCode(std::string_view text) {
  if (text.size() != 7)
    return false;
  for (size_t i = 0; i < 7; ++i)
    if (i < 3 ? std::toupper(static_cast<unsigned char>(text[i])) != "RNN"[i]
              : !std::isdigit(static_cast<unsigned char>(text[i])))
      return false;
  return true;
}

static int explainCode(const Options& options, const Console& console) {
  std::string code = "RNN" + options.file.substr(3);
  const CodeText* found = findCode(code);
  if (!found) {
    std::vector<std::string> codes;
    for (const CodeText* known : allCodes())
      codes.push_back(known->code);
    auto near = nearest(code, codes);
    return console.error(fmt::format("there is no code {}", code),
                         near ? "did you mean " + *near + "?"
                              : fmt::format("the codes are {}", fmt::join(codes, " ")));
  }
  if (options.json)
    fmt::print("{}",
               dumpJson({{"code", found->code}, {"title", found->title}, {"text", found->text}}));
  else
    fmt::print("{}: {}\n\n{}\n", found->code, found->title, found->text);
  return kFine;
}

namespace {

class Explainer {
public:
  Explainer(const Options& options, const Console& console)
      : options(options), console(console), source(options, console), solver(console) {}
  int run();

private:
  int planSchedule();
  void print();
  void printWishes();
  Json wishesJson();
  Json json();
  Json systemJson(newton::SystemOp system);
  Json denseJson(newton::DenseSystemOp system);
  Json stagesJson();
  /// "file:line:col: the term that couples axis k of h", for every axis that is no lane axis.
  std::vector<std::string> couplings();
  std::string why() const;
  newton::CellOp cell() { return *newton->getOps<newton::CellOp>().begin(); }

  const Options& options;
  const Console& console;
  Source source;
  Solver solver;
  mlir::OwningOpRef<mlir::ModuleOp> newton;
  CallSizes sizes;
  rnn_plan_info info{};
};

} // namespace

/// What to write in place of a product with a matrix of weights; empty for any other term.
static std::string elementWise(mlir::Operation* by, const std::string& axis) {
  auto product = llvm::dyn_cast<rnn::MatmulOp>(by);
  auto weights = product ? product.getLhs().getDefiningOp<rnn::ParamValueOp>() : nullptr;
  if (!weights)
    return "";
  auto state = product.getRhs().getDefiningOp<rnn::StateAtOp>();
  const char* time = state && state.getBack() == 0 ? "[t]" : "[t-1]";
  std::string factor = state ? state.getName().str() + time : "(...)";
  return fmt::format("; `{0} * {1}` with {0} : [{2}] instead would not couple it",
                     weights.getName().str(), factor, axis);
}

std::vector<std::string> Explainer::couplings() {
  std::vector<std::string> lines;
  if (!source.cell())
    return lines;
  mlir::OwningOpRef<mlir::ModuleOp> hoisted(source.module().clone());
  if (!hoistStages(*hoisted))
    return lines;
  LaneAxes axes(*hoisted->getOps<rnn::CellOp>().begin());
  for (const StateGroup& group : axes.groups())
    for (const StateGroup::Coupling& coupling : group.couplings) {
      rnn::StateOp state = coupling.state;
      auto type = llvm::cast<rnn::ArrayType>(state.getType());
      std::string axis = type.getDims()[coupling.axis].str();
      mlir::Operation* by = coupling.by ? coupling.by : state.getOperation();
      std::string what =
          fmt::format("axis '{}' of {} belongs to the block: ", axis, state.getSymName().str());
      what += coupling.by ? "coupled by the term at " + check::placeText(by->getLoc())
                          : "another state of the group has no such axis";
      what += elementWise(by, axis);
      lines.push_back(std::move(what));
    }
  return lines;
}

int Explainer::planSchedule() {
  auto described = describeForHost(*newton, source.cellName());
  if (!described)
    return source.bug(llvm::toString(described.takeError()));
  if (int status = solver.create(std::move(*described)))
    return status;
  if (int status = bindSizes(options, console, solver.table(), sizes))
    return status;
  rnn_plan_options plan = planOptions(options);
  PlanPtr made;
  if (int status = solver.plan(plan, sizes, made))
    return status;
  info.size = sizeof(info);
  if (rnn_plan_describe(made.get(), &info) != RNN_OK)
    return source.bug("the plan cannot be described");
  return kFine;
}

/// Why this schedule: the estimates, or that there was no choice.
std::string Explainer::why() const {
  const rnn_system_desc& system = solver.table().system[0];
  if (system.diagonal && options.schedule != RNN_SCHEDULE_PARALLEL)
    return "a composition of Jacobians would cost more than the steps; --schedule parallel "
           "corrects "
           "with the diagonal alone";
  if (system.carry == 0 && !system.diagonal)
    return "sequential only: the block has no Jacobian";
  std::string estimates =
      fmt::format("estimated: parallel {}, sequential {}", secondsText(info.seconds_parallel),
                  secondsText(info.seconds_sequential));
  return options.schedule == RNN_SCHEDULE_AUTO ? estimates : "as asked for; " + estimates;
}

/// The names of `save` or `recompute`.
static std::vector<std::string> namesOf(std::optional<mlir::ArrayAttr> names) {
  std::vector<std::string> list;
  if (names)
    for (auto name : names->getAsRange<mlir::StringAttr>())
      list.push_back(name.getValue().str());
  return list;
}

/// What the file asks for: hints to the memory planner, wishes for the solve.
void Explainer::printWishes() {
  for (auto [what, names] :
       {std::pair("save", cell().getSave()), std::pair("recompute", cell().getRecompute())})
    if (names)
      fmt::print("  {:<11} {}\n", what, fmt::join(namesOf(names), ", "));
  const rnn_solve_hints& solve = solver.table().solve;
  std::vector<std::string> settings;
  if (solve.has_tolerance)
    settings.push_back(fmt::format("tolerance {}", solve.tolerance));
  if (solve.max_sweeps)
    settings.push_back(fmt::format("max_sweeps {}", solve.max_sweeps));
  if (solve.chunk)
    settings.push_back(fmt::format("chunk {}", solve.chunk));
  if (!settings.empty())
    fmt::print("  solve       {}, unless options say otherwise\n", fmt::join(settings, ", "));
}

Json Explainer::wishesJson() {
  Json json = Json::object();
  if (cell().getSave())
    json["save"] = namesOf(cell().getSave());
  if (cell().getRecompute())
    json["recompute"] = namesOf(cell().getRecompute());
  const rnn_solve_hints& solve = solver.table().solve;
  if (solve.has_tolerance)
    json["solve"]["tolerance"] = solve.tolerance;
  if (solve.max_sweeps)
    json["solve"]["max_sweeps"] = solve.max_sweeps;
  if (solve.chunk)
    json["solve"]["chunk"] = solve.chunk;
  for (auto tensor : cell().ops<newton::TensorOp>())
    if (auto start = tensor.getStart())
      json["start"][tensor.getSymName().str()] = start->str();
  return json;
}

void Explainer::print() {
  fmt::print("{} of {}\n", source.cellName(), options.file);
  printWishes();
  auto sizeOf = [&](llvm::StringRef dim) {
    auto known = sizes.dims.find(dim.str());
    return known == sizes.dims.end() ? -1 : known->second;
  };
  for (mlir::Operation* op : cell().systems())
    fmt::print("\nsystem {}\n{}", mlir::SymbolTable::getSymbolName(op).str(),
               explainSystem(op, sizeOf));
  for (const std::string& line : couplings())
    fmt::print("  coupling    {}\n", line);
  fmt::print("{}", explainStages(cell(), sizeOf));
  fmt::print("\nschedule for {}, {}\n", sizesText(sizes), dtypeName(computeType(options)));
  fmt::print("  chosen      {}\n  why         {}\n", planText(info), why());
}

Json Explainer::systemJson(newton::SystemOp system) {
  Json json{
      {"name", system.getSymName().str()}, {"lanes", Json::array()}, {"states", Json::array()}};
  for (mlir::Attribute axis : system.getLaneAxes())
    json["lanes"].push_back(llvm::cast<mlir::StringAttr>(axis).getValue().str());
  for (int64_t i = 0; i < system.numStates(); ++i)
    json["states"].push_back(stateName(system, i));
  StepCost step = costOfStep(system);
  json["step"] = definitions(system.stepBlock(), system);
  json["cost"] = {{"operations", step.operations},
                  {"functions", step.functions},
                  {"latency_cycles", step.latency},
                  {"throughput_cycles", step.throughput}};
  if (!system.hasJacobian() || system.getDiagonal()) {
    json["structure"] = "dense";
    return json;
  }
  newton::StructureAttr structure = *system.getStructure();
  json["structure"] = structure.describe();
  json["linear"] = structure.getLinear();
  json["constant"] = structure.getConstant();
  json["carry"] = structure.numCarry();
  auto values = system.getJacobian().front().getTerminator()->getOperands();
  for (int64_t i = 0; i < structure.numEntries(); ++i)
    json["jacobian"].push_back({{"row", stateName(system, structure.getEntries()[2 * i])},
                                {"column", stateName(system, structure.getEntries()[2 * i + 1])},
                                {"value", formula(values[i], system)}});
  return json;
}

Json Explainer::denseJson(newton::DenseSystemOp system) {
  Json json{{"name", system.getSymName().str()},
            {"lanes", Json::array()},
            {"states", Json::array()},
            {"structure", "dense"},
            {"block", Json::array()}};
  for (mlir::Attribute axis : system.getLaneAxes())
    json["lanes"].push_back(llvm::cast<mlir::StringAttr>(axis).getValue().str());
  for (auto slot : system.getStates().getAsRange<newton::SlotAttr>())
    json["states"].push_back(slot.display());
  for (mlir::Attribute dim : system.getBlockDims())
    json["block"].push_back(llvm::cast<mlir::StringAttr>(dim).getValue().str());
  return json;
}

Json Explainer::stagesJson() {
  constexpr const char* kPhases[] = {"call", "before", "after"};
  Json list = Json::array();
  auto sizeOf = [&](llvm::StringRef dim) {
    auto known = sizes.dims.find(dim.str());
    return known == sizes.dims.end() ? -1 : known->second;
  };
  for (const StageText& stage : stageTexts(cell(), sizeOf))
    list.push_back({{"phase", kPhases[static_cast<int>(stage.phase)]},
                    {"kind", stage.isProduct ? "product" : "map"},
                    {"equations", stage.equations},
                    {"multiply_adds", stage.multiplyAdds},
                    {"numbers", stage.numbers}});
  return list;
}

Json Explainer::json() {
  Json json{{"cell", source.cellName()}, {"file", options.file}, {"systems", Json::array()}};
  for (mlir::Operation* op : cell().systems()) {
    auto system = llvm::dyn_cast<newton::SystemOp>(op);
    json["systems"].push_back(system ? systemJson(system)
                                     : denseJson(llvm::cast<newton::DenseSystemOp>(op)));
  }
  json.update(wishesJson());
  json["couplings"] = couplings();
  json["stages"] = stagesJson();
  json.update(sizesJson(sizes));
  json["compute"] = dtypeName(computeType(options));
  json["schedule"] = scheduleName(info.schedule);
  json["plan"] = planJson(info);
  json["why"] = why();
  return json;
}

int Explainer::run() {
  if (int status = checkSupported(options, console))
    return status;
  if (int status = source.load())
    return status;
  if (int status = source.lower(computeType(options), newton))
    return status;
  if (int status = planSchedule())
    return status;
  if (options.json)
    fmt::print("{}", dumpJson(json()));
  else
    print();
  return kFine;
}

int rnnc::tool::runExplain(const Options& options) {
  Console console(options);
  if (isCode(options.file))
    return explainCode(options, console);
  return Explainer(options, console).run();
}
