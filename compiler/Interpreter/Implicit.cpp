//===- Implicit.cpp - states that are defined through themselves -----------------------------===//

#include "Implicit.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace rnnc;
using Program = Interpreter::Program;
using Numbers = std::vector<double>;
using Matrix = std::vector<Numbers>;
using Group = std::vector<uint32_t>;

namespace {

/// Calls `visit` with every place that element i of the instruction reads.
template <class Visit>
void eachOperand(const Program::Instruction& op, size_t i, Visit visit) {
  for (const Program::Operand& operand : op.operands)
    for (size_t n = 0; n < op.terms; ++n)
      visit(operand.at(i) + n * operand.stride);
}

/// For every unknown the unknowns that its equation reads, itself or through other values.
std::vector<std::set<uint32_t>> dependences(const Program& program) {
  std::vector<bool> needed(program.memory.size());
  for (const Program::Unknown& unknown : program.unknowns)
    needed[unknown.next] = true;
  for (auto op = program.instructions.rbegin(); op != program.instructions.rend(); ++op)
    for (size_t i = 0; i < op->count; ++i)
      if (needed[op->result + i])
        eachOperand(*op, i, [&](size_t place) { needed[place] = true; });
  std::vector<std::set<uint32_t>> reads(program.memory.size());
  for (uint32_t u = 0; u < program.unknowns.size(); ++u)
    reads[program.unknowns[u].guess].insert(u);
  for (const Program::Instruction& op : program.instructions)
    for (size_t i = 0; i < op.count; ++i)
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
  double norm = INFINITY;
  int slow = -1;                   // trials in a row that made nothing better; -1: not tried yet
  double above = NAN, below = NAN; // of one unknown: the latest points with F > 0 and F < 0
  bool done = false, failed = false;

  /// The residual and its derivatives at point + offset.
  void take(const Numbers& residual, const Matrix& jacobian) {
    if (group.size() == 1)
      takeOne(residual[0], jacobian[0][0]);
    else
      takeSeveral(residual, jacobian);
  }

private:
  void takeOne(double residual, double slope);
  void narrow(double tried, double update, double size);
  void widen(double tried, double update, double size);
  void takeSeveral(const Numbers& residual, const Matrix& jacobian);
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

/// Solves a * x = b by elimination with pivoting; not finite where `a` is singular.
Numbers eliminate(Matrix a, Numbers b) {
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

void Search::takeSeveral(const Numbers& residual, const Matrix& jacobian) {
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
    program.levels.push_back(std::move(groups));
  }
}

/// All groups of a level at once: they do not meet, so one execution serves one element of each.
static bool solveLevel(const Program& program, const std::vector<Group>& level, Numbers& memory) {
  std::vector<Search> searches;
  size_t largest = 0;
  for (const Group& group : level) {
    Search search{group, {}, Numbers(group.size(), 0)};
    for (uint32_t u : group)
      if (double now = memory[program.unknowns[u].now]; std::isfinite(now))
        search.point.push_back(now);
      else
        search.point.push_back(0); // a search begins somewhere
    searches.push_back(std::move(search));
    largest = std::max(largest, group.size());
  }
  auto set = [&](const Search& search, size_t i, double by) {
    memory[program.unknowns[search.group[i]].guess] =
        search.point[i] + (search.done ? 0 : search.offset[i]) + by;
  };
  auto residual = [&](const Search& search) {
    Numbers values;
    for (uint32_t u : search.group)
      values.push_back(memory[program.unknowns[u].next] - memory[program.unknowns[u].guess]);
    return values;
  };
  auto isDone = [](const Search& search) { return search.done; };
  for (int trial = 0; trial < 100 && !std::all_of(searches.begin(), searches.end(), isDone);
       ++trial) {
    for (const Search& search : searches)
      for (size_t i = 0; i < search.group.size(); ++i)
        set(search, i, 0);
    program.execute(memory);
    std::vector<Numbers> values;
    std::vector<Matrix> jacobians;
    for (const Search& search : searches) {
      values.push_back(residual(search));
      jacobians.emplace_back(search.group.size(), Numbers(search.group.size()));
    }
    for (size_t column = 0; column < largest; ++column)
      for (double sign : {1., -1.}) {
        auto step = [&](const Search& search) {
          return 0x1p-18 * (1 + std::fabs(search.point[column] + search.offset[column]));
        };
        for (const Search& search : searches)
          if (column < search.group.size())
            set(search, column, sign * step(search));
        program.execute(memory);
        for (size_t s = 0; s < searches.size(); ++s) {
          if (column >= searches[s].group.size())
            continue;
          Numbers moved = residual(searches[s]);
          for (size_t row = 0; row < moved.size(); ++row)
            jacobians[s][row][column] += sign * moved[row] / (2 * step(searches[s]));
          set(searches[s], column, 0);
        }
      }
    for (size_t s = 0; s < searches.size(); ++s)
      if (!searches[s].done)
        searches[s].take(values[s], jacobians[s]);
  }
  bool solved = true;
  for (Search& search : searches) {
    solved &= search.done && !search.failed;
    search.done = true;
    for (size_t i = 0; i < search.group.size(); ++i)
      set(search, i, 0);
  }
  return solved;
}

bool rnnc::solveImplicit(const Program& program, Numbers& memory) {
  bool solved = true;
  for (const std::vector<Group>& level : program.levels)
    solved &= solveLevel(program, level, memory);
  return solved;
}
