//===- Implicit.cpp - states that are defined through themselves -----------------------------===//

#include "Implicit.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace rnnc;
using Program = Interpreter::Program;
using Group = std::vector<uint32_t>;

namespace {

size_t numbersOf(const Program::Instruction& op) { return op.count * (op.isComplex ? 2 : 1); }

/// Calls `visit` with every place that the i-th number of the instruction's result reads.
template <class Visit>
void eachOperand(const Program::Instruction& op, size_t i, Visit visit) {
  size_t element = op.isComplex ? i / 2 : i;
  for (const Program::Operand& operand : op.operands)
    for (size_t n = 0; n < op.terms; ++n)
      for (size_t part = 0; part < (op.isComplex ? operand.width : 1); ++part)
        visit(operand.at(element, n) + part);
}

/// For every unknown the unknowns that its equation reads, itself or through other values.
std::vector<std::set<uint32_t>> dependences(const Program& program) {
  std::vector<bool> needed(program.memory.size());
  for (const Program::Unknown& unknown : program.unknowns)
    needed[unknown.next] = true;
  for (auto op = program.instructions.rbegin(); op != program.instructions.rend(); ++op)
    for (size_t i = 0; i < numbersOf(*op); ++i)
      if (needed[op->result + i])
        eachOperand(*op, i, [&](size_t place) { needed[place] = true; });
  std::vector<std::set<uint32_t>> reads(program.memory.size());
  for (uint32_t u = 0; u < program.unknowns.size(); ++u)
    reads[program.unknowns[u].guess].insert(u);
  for (const Program::Instruction& op : program.instructions)
    for (size_t i = 0; i < numbersOf(op); ++i)
      if (needed[op.result + i])
        eachOperand(op, i, [&](size_t place) {
          reads[op.result + i].insert(reads[place].begin(), reads[place].end());
        });
  std::vector<std::set<uint32_t>> result;
  for (const Program::Unknown& unknown : program.unknowns)
    result.push_back(reads[unknown.next]);
  return result;
}

/// Everything that can be reached from `from`, which is in it only if it is on a circle.
std::set<uint32_t> reach(const std::vector<std::set<uint32_t>>& graph, uint32_t from) {
  std::set<uint32_t> seen;
  std::vector<uint32_t> todo{from};
  while (!todo.empty()) {
    uint32_t at = todo.back();
    todo.pop_back();
    for (uint32_t next : graph[at])
      if (seen.insert(next).second)
        todo.push_back(next);
  }
  return seen;
}

constexpr double kUlp = 0x1p-52;

/// One group while it is searched for.
struct Search {
  const Group& group;
  Numbers point, offset;
  Numbers residual; // at point + offset, and its derivatives
  Matrix jacobian;
  double norm = INFINITY;
  int slow = -1;                   // trials in a row that made nothing better; -1: not tried yet
  double above = NAN, below = NAN; // of one unknown: the latest points with F > 0 and F < 0
  bool done = false, failed = false;

  explicit Search(const Group& group)
      : group(group), offset(group.size()), residual(group.size()),
        jacobian(group.size(), Numbers(group.size())) {}
  /// A trial, now that the residual is known.
  void take() {
    if (group.size() == 1)
      takeOne(residual[0], jacobian[0][0]);
    else
      takeSeveral();
  }

private:
  void takeOne(double residual, double slope);
  void narrow(double tried, double update, double size);
  void widen(double tried, double update, double size);
  void takeSeveral();
  void refuse();
  void end(double result, bool found) {
    point[0] = result;
    done = true;
    failed = !found;
  }
  bool isWithin(const Numbers& change, double bound, const Numbers& at) const;
};

constexpr double kTiny = 4 * kUlp, kNear = 8 * 0x1p-26;

bool isSmall(double change, double bound, double at) {
  return std::fabs(change) <= bound * (1 + std::fabs(at));
}

} // namespace

bool Search::isWithin(const Numbers& change, double bound, const Numbers& at) const {
  for (size_t i = 0; i < change.size(); ++i)
    if (!(std::fabs(change[i]) <= bound * (1 + std::fabs(at[i]))))
      return false;
  return true;
}

/// A trial that made nothing better: half of it next; near a solution that is rounding's doing, and
/// elsewhere, after a while, the whole step must do, if only it is finite.
void Search::refuse() {
  if (slow++ < 0) {
    std::fill(point.begin(), point.end(), NAN);
    done = true;
    return;
  }
  if (slow == 3 && isWithin(offset, 2 * std::sqrt(kUlp), point)) {
    done = true;
    return;
  }
  bool jumps = slow == 10;
  if (jumps && std::isinf(norm)) {
    done = failed = true;
    return;
  }
  for (double& x : offset)
    x *= jumps ? 512 : 0.5;
  if (jumps) {
    norm = INFINITY;
    slow = 0;
  }
}

void Search::takeSeveral() {
  double size = 0;
  for (double x : residual)
    size += std::fabs(x);
  if (!(size < norm))
    return refuse();
  norm = size;
  slow = 0;
  for (size_t i = 0; i < point.size(); ++i)
    point[i] += offset[i];
  Numbers minus = residual;
  for (double& x : minus)
    x = -x;
  offset = eliminate(jacobian, minus);
  if (!std::all_of(offset.begin(), offset.end(), [](double x) { return std::isfinite(x); }))
    offset = residual;
  if (!isWithin(offset, 4 * kUlp, point))
    return;
  done = true;
  for (size_t i = 0; i < point.size(); ++i)
    point[i] += offset[i];
}

/// One unknown: Newton's method that keeps a point on either side of zero, once it has them.
void Search::takeOne(double residual, double slope) {
  double tried = point[0] + offset[0], update = -residual / slope;
  if (!std::isfinite(residual) || !std::isfinite(slope)) {
    if (slow < 0)
      return end(NAN, true);
    offset[0] /= 2;
    return;
  }
  if (!std::isfinite(update))
    update = residual;
  if (isSmall(update, kTiny, tried))
    return end(tried + update, true);
  if (residual > 0)
    above = tried;
  else
    below = tried;
  if (std::isnan(above) || std::isnan(below))
    widen(tried, update, std::fabs(residual));
  else
    narrow(tried, update, std::fabs(residual));
}

/// Between two points: the update where it stays there and shrinks, else the middle.
void Search::narrow(double tried, double update, double size) {
  if (isSmall(above - below, kTiny, tried))
    return end(tried, isSmall(update, kNear, tried));
  double next = tried + update;
  bool isInside = next > std::min(above, below) && next < std::max(above, below);
  if (!isInside || 2 * std::fabs(update) > std::fabs(offset[0]))
    next = above / 2 + below / 2;
  point[0] = tried;
  offset[0] = next - tried;
  norm = size;
  slow = 0;
}

/// One sign only: on as long as it gets better, then farther and farther out on both sides.
void Search::widen(double tried, double update, double size) {
  bool isSearching = slow >= 3, isBetter = size < norm && !isSearching;
  bool isFast = size <= norm / 2 && !isSearching;
  if (!isSearching && !isFast &&
      (isBetter ? isSmall(update, kNear, tried) : isSmall(offset[0], kNear, point[0])))
    return end(isBetter ? tried : point[0], true);
  slow = isFast ? 0 : slow + 1;
  double last = offset[0];
  offset[0] = isBetter ? update : last / 2;
  if (isBetter) {
    point[0] = tried;
    norm = size;
  }
  if (slow >= 3)
    offset[0] = slow == 3 ? 1 + std::fabs(point[0]) : -2 * last;
  if (slow >= 43)
    end(point[0], false);
}

Numbers rnnc::eliminate(Matrix a, Numbers b) {
  size_t n = b.size();
  for (size_t c = 0; c < n; ++c) {
    size_t pivot = c;
    for (size_t r = c + 1; r < n; ++r)
      if (std::fabs(a[r][c]) > std::fabs(a[pivot][c]))
        pivot = r;
    std::swap(a[c], a[pivot]);
    std::swap(b[c], b[pivot]);
    for (size_t r = 0; r < n; ++r) {
      if (r == c)
        continue;
      double factor = a[r][c] / a[c][c];
      for (size_t j = c; j < n; ++j)
        a[r][j] -= factor * a[c][j];
      b[r] -= factor * b[c];
    }
  }
  for (size_t c = 0; c < n; ++c)
    b[c] /= a[c][c];
  return b;
}

/// What of the program a search has to compute again for every guess.
static std::vector<uint32_t> between(const Program& program, const std::vector<Group>& groups) {
  std::vector<bool> isMoved(program.memory.size()), isWanted(program.memory.size());
  for (const Group& group : groups)
    for (uint32_t u : group) {
      isMoved[program.unknowns[u].guess] = true;
      isWanted[program.unknowns[u].next] = true;
    }
  for (const Program::Instruction& op : program.instructions)
    for (size_t i = 0; i < numbersOf(op); ++i)
      eachOperand(op, i, [&](size_t place) {
        if (isMoved[place])
          isMoved[op.result + i] = true;
      });
  std::vector<uint32_t> chosen;
  for (uint32_t n = program.instructions.size(); n-- > 0;) {
    const Program::Instruction& op = program.instructions[n];
    bool isChosen = false;
    for (size_t i = 0; i < numbersOf(op); ++i)
      if (isWanted[op.result + i] && isMoved[op.result + i]) {
        isChosen = true;
        eachOperand(op, i, [&](size_t place) { isWanted[place] = true; });
      }
    if (isChosen)
      chosen.push_back(n);
  }
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

void rnnc::orderUnknowns(Program& program) {
  if (program.unknowns.empty())
    return;
  std::vector<std::set<uint32_t>> graph = dependences(program), all;
  for (uint32_t u = 0; u < graph.size(); ++u)
    all.push_back(reach(graph, u));
  std::vector<int> level(graph.size(), -1);
  for (size_t done = 0, at = 0; done < graph.size(); ++at) {
    std::vector<Group> groups;
    for (uint32_t u = 0; u < graph.size(); ++u) {
      if (level[u] >= 0)
        continue;
      Group group{u};
      bool isReady = true;
      for (uint32_t other : all[u]) {
        bool together = all[other].count(u);
        if (together && other != u)
          group.push_back(other);
        isReady &= together || (level[other] >= 0 && level[other] < static_cast<int>(at));
      }
      if (!isReady)
        continue;
      for (uint32_t member : group)
        level[member] = static_cast<int>(at);
      done += group.size();
      groups.push_back(std::move(group));
    }
    std::vector<uint32_t> instructions = between(program, groups);
    program.levels.push_back({std::move(groups), std::move(instructions)});
  }
}

namespace {

/// The searches of one level: its groups do not meet, so one execution serves one element of each.
class LevelSearch {
public:
  LevelSearch(const Program& program, const Program::Level& level, Numbers& memory);
  /// False where one of them found no solution.
  bool run();

private:
  bool isDone() const {
    return std::all_of(searches.begin(), searches.end(), [](const Search& s) { return s.done; });
  }
  const Program::Unknown& unknown(const Search& search, size_t i) const {
    return program.unknowns[search.group[i]];
  }
  void guess(const Search& search, size_t i, double by) {
    memory[unknown(search, i).guess] = search.point[i] + (search.done ? 0 : search.offset[i]) + by;
  }
  void guessAll() {
    for (const Search& search : searches)
      for (size_t i = 0; i < search.group.size(); ++i)
        guess(search, i, 0);
  }
  double residual(const Search& search, size_t row) const {
    return memory[unknown(search, row).next] - memory[unknown(search, row).guess];
  }
  void execute() {
    for (uint32_t n : level.instructions)
      program.execute(program.instructions[n], memory);
  }
  void differentiate(size_t column);

  const Program& program;
  const Program::Level& level;
  Numbers& memory;
  std::vector<Search> searches;
  size_t largest = 0;
};

} // namespace

LevelSearch::LevelSearch(const Program& program, const Program::Level& level, Numbers& memory)
    : program(program), level(level), memory(memory) {
  for (const Group& group : level.groups) {
    Search& search = searches.emplace_back(group);
    for (uint32_t u : group) {
      double now = memory[program.unknowns[u].now];
      search.point.push_back(std::isfinite(now) ? now : 0); // a search begins somewhere
    }
    largest = std::max(largest, group.size());
  }
}

/// Central differences along one unknown of every group.
void LevelSearch::differentiate(size_t column) {
  auto step = [&](const Search& search) {
    return 0x1p-18 * (1 + std::fabs(search.point[column] + search.offset[column]));
  };
  for (double sign : {1., -1.}) {
    for (const Search& search : searches)
      if (column < search.group.size())
        guess(search, column, sign * step(search));
    execute();
    for (Search& search : searches) {
      if (column >= search.group.size())
        continue;
      for (size_t row = 0; row < search.group.size(); ++row) {
        double part = sign * residual(search, row) / (2 * step(search));
        double& entry = search.jacobian[row][column];
        entry = sign > 0 ? part : entry + part;
      }
      guess(search, column, 0);
    }
  }
}

bool LevelSearch::run() {
  guessAll();
  program.execute(memory); // also what no guess moves
  for (int trial = 0; trial < 100 && !isDone(); ++trial) {
    if (trial > 0) {
      guessAll();
      execute();
    }
    for (Search& search : searches)
      for (size_t row = 0; row < search.group.size(); ++row)
        search.residual[row] = residual(search, row);
    for (size_t column = 0; column < largest; ++column)
      differentiate(column);
    for (Search& search : searches)
      if (!search.done)
        search.take();
  }
  bool solved = true;
  for (Search& search : searches) {
    solved &= search.done && !search.failed;
    search.done = true;
  }
  guessAll();
  return solved;
}

bool rnnc::solveImplicit(const Program& program, Numbers& memory) {
  bool solved = true;
  for (const Program::Level& level : program.levels)
    solved &= LevelSearch(program, level, memory).run();
  return solved;
}
