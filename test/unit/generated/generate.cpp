//===- generate.cpp - random cells that are well typed and stable by construction -------------===//

#include "generate.h"

#include "expressions.h"

#include <algorithm>
#include <cmath>

using namespace rnnc::generated;

namespace {

enum class Kind {
  Lanes,   // states without block axes
  Block,   // a small block of a fixed size
  Dense,   // a block of a free size, or of more than 16
  NearOne, // |J| close to 1, often off the diagonal
  Wild,    // stretches: a few steps can be compared with other arithmetic
};

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed), expressions(random, program) {}

  /// False where what came out is not worth testing, or unstable.
  bool run();
  Program program;

private:
  void chooseDims();
  void chooseStates();
  void shorten(Shape& shape) const;
  void addFunctions();
  void addValues(int most);
  void addState(const Decl& state);
  void addOutputs();
  void nameNumbers();
  void addHints();
  ExprPtr decay(const Decl& state, double& size);
  ExprPtr contractive(const Decl& state, bool isImplicitNow);
  ExprPtr driveBy(const ExprPtr& rest, double size);
  ExprPtr complexValue(const Decl& state, bool isImplicitNow);
  ExprPtr wild(const Decl& state);
  ExprPtr implicit(const Decl& state);
  void chooseSetting();
  void chooseSchedule();
  bool dim(const std::string& name, int64_t size, bool fixed) {
    program.dims.push_back({name, size, fixed});
    return true;
  }

  Random random;
  Expressions expressions;
  Kind kind = Kind::Lanes;
  Shape base; // of most states
  bool fine = true;
  bool solved = false; // it has an implicit step
  int64_t value = 0;
};

} // namespace

void Generator::chooseDims() {
  expressions.parts = random.chance(0.35);
  expressions.complexNumbers = random.chance(0.15);
  int64_t lanes = random.pick<int64_t>({1, 2, 3, 5, 7, 13, 17, 19, 33});
  switch (kind) {
  case Kind::Dense:
    if (random.chance(0.2)) {
      dim("n", random.between(17, 19), true);
      base = {"n"};
    } else {
      dim("d", random.pick<int64_t>({1, 2, 3, 9, 17}), false);
      base = {"d"};
      if (random.chance(0.3) && dim("e", random.between(1, 3), false))
        base.insert(base.begin(), "e");
    }
    expressions.contracted.insert(base.back());
    break;
  case Kind::Block: {
    dim("d", lanes, false);
    dim("k", random.between(expressions.parts ? 2 : 1, 4), true);
    base = random.pick(std::vector<Shape>{
        {"d", "k"}, {"d", "k"}, {"d", "k"}, {"k"}, {"k", "d"}, {"d"}, {"d", "j", "k"}, {"k", "j"}});
    expressions.contracted.insert("k");
    break;
  }
  default:
    dim("d", lanes, false);
    base = random.pick(
        std::vector<Shape>{{"d"}, {"d"}, {"d"}, {}, {"d", "e"}, {"d", "k"}, {"k", "d"}});
  }
  auto known = [&](const std::string& name) {
    return std::any_of(program.dims.begin(), program.dims.end(),
                       [&](const Dim& d) { return d.name == name; });
  };
  if (std::find(base.begin(), base.end(), "e") != base.end() && !known("e"))
    dim("e", random.between(1, 4), false);
  if ((std::find(base.begin(), base.end(), "k") != base.end() || random.chance(0.3)) && !known("k"))
    dim("k", random.between(1, 4), true);
  if (std::find(base.begin(), base.end(), "j") != base.end() ||
      random.chance(expressions.parts ? 0.6 : 0.15)) {
    dim("j", random.between(1, expressions.parts ? 2 : 3), true);
    expressions.contracted.insert("j");
  }
  // A dim that is no axis of a state, and may be summed over.
  if (known("k") && std::find(base.begin(), base.end(), "k") == base.end())
    expressions.contracted.insert("k");
  // Where it meets another axis of size 1, the axis has neither name.
  if (random.chance(0.12) && dim("one", 1, true))
    expressions.numberAxes = true;
  if (kind != Kind::Dense && random.chance(0.25)) { // of inputs and params alone
    dim("m", random.pick<int64_t>({1, 2, 5, 9, 17}), false);
    expressions.contracted.insert("m");
  }
}

/// A block axis of another size, of which a part of the others' may be read.
void Generator::shorten(Shape& shape) const {
  auto has = [&](const std::string& name) {
    return std::find(shape.begin(), shape.end(), name) != shape.end();
  };
  for (const Dim& other : program.dims)
    for (std::string& d : shape)
      if (other.fixed && program.dim(d).fixed && other.size < program.dim(d).size &&
          other.name != "one" && !has(other.name)) {
        d = other.name;
        return;
      }
}

void Generator::chooseStates() {
  constexpr int64_t kMostScalars = 8; // beyond, there is no Jacobian
  int64_t most = kind != Kind::Dense && random.chance(0.04) ? 20 : kMostScalars, scalars = 0;
  int64_t count = random.weighted({0, 45, 35, 20});
  for (int64_t i = 0; i < count; ++i) {
    Decl state{"s" + std::to_string(i + 1), base, 0, false};
    if (i > 0 && random.chance(0.3)) // without an axis of fixed size
      std::erase_if(state.shape, [&](const std::string& d) {
        return program.dim(d).fixed && random.chance(0.7);
      });
    if (i > 0 && random.chance(expressions.parts ? 0.7 : 0.1))
      shorten(state.shape);
    if (i > 0 && state.shape.size() == 2 && random.chance(0.2)) // what .T and outer() are for
      std::swap(state.shape[0], state.shape[1]);
    int64_t elements = 1;
    if (kind != Kind::Dense)
      for (const std::string& d : state.shape)
        if (program.dim(d).fixed)
          elements *= program.dim(d).size;
    int64_t order = random.weighted({0, 80, 14, 6});
    if (i > 0 && kind != Kind::Dense && kind != Kind::Wild &&
        random.chance(expressions.complexNumbers ? 0.6 : 0.15)) {
      state.complex = true;
      elements *= 2;
      order = 1;
    }
    while (order > 1 && scalars + order * elements > most)
      --order;
    if (i > 0 && scalars + order * elements > most)
      break;
    scalars += order * elements;
    if (random.chance(0.5) && !state.complex)
      state.fill = expressions.number(-1, 1);
    if (random.chance(0.12)) {
      state.start = "h" + std::to_string(i + 1);
      program.params.push_back({state.start, state.shape, 0, false, state.complex});
    }
    expressions.orders[state.name] = order;
    program.states.push_back(state);
  }
}

void Generator::addFunctions() {
  if (!random.chance(0.3))
    return;
  // A file sees what it imports, not who imports it: a later function calls earlier ones.
  int file = random.chance(0.5) ? static_cast<int>(random.between(1, 2)) : 0;
  for (int64_t i = random.between(1, 3); i-- > 0;) {
    program.functions.push_back(
        expressions.function("f" + std::to_string(program.functions.size() + 1), 2));
    program.functions.back().file = file;
    file = static_cast<int>(random.between(0, file));
  }
}

/// Some numbers get names. Those of a file are its own: another one has others of these names.
void Generator::nameNumbers() {
  std::map<int, int64_t> inFile;
  auto named = [&](const ExprPtr& expr, const char* stem, int64_t& count) {
    return rewrite(expr, [&](const ExprPtr& node) -> ExprPtr {
      if (node->op != Op::Number || !random.chance(0.4))
        return nullptr;
      return makeConst(stem + std::to_string(++count), node->number);
    });
  };
  for (Function& function : program.functions) {
    for (auto& line : function.lines)
      line.second = named(line.second, "c", inFile[function.file]);
    function.result = named(function.result, "c", inFile[function.file]);
  }
  int64_t inCell = 0;
  changeAll(program, [&](const ExprPtr& value) { return named(value, "q", inCell); });
}

/// What a file says about how it is run and trained; no result depends on it.
void Generator::addHints() {
  for (const Equation& equation : program.equations)
    if (random.chance(0.3) && !equation.value->truth)
      program.saved.push_back(equation.name);
  program.wish = random.pick<int64_t>({0, 4, 32});
}

void Generator::addValues(int most) {
  for (int64_t i = random.below(most + 1); i-- > 0;) {
    std::string name = "v" + std::to_string(++value);
    int depth = static_cast<int>(random.between(1, 3));
    ExprPtr made = random.chance(0.08) ? expressions.condition(base, 2)
                   : expressions.complexNumbers && random.chance(0.3)
                       ? expressions.complexExact(base, depth)
                       : expressions.exact(base, depth);
    program.equations.push_back({name, false, made});
    expressions.define(name, made);
  }
}

/// What the old state is multiplied with, at most `size`.
ExprPtr Generator::decay(const Decl& state, double& size) {
  if (kind == Kind::NearOne) {
    size = random.pick({0.99, 0.998, 0.9995});
    return makeNumber(random.chance(0.3) ? -size : size);
  }
  size = expressions.number(0.1, 0.9);
  if (random.chance(0.5))
    return makeNumber(size);
  ExprPtr drawn = expressions.stateless(state.shape, 1);
  return makeSign("*", makeNumber(size),
                  makeCall(random.pick<const char*>({"sigmoid", "tanh", "cos"}), {drawn}));
}

/// gain * e beside what follows the old states with the slope `size`: slopes and sizes add up to no
/// more than is allowed.
ExprPtr Generator::driveBy(const ExprPtr& rest, double size) {
  Bound bound = expressions.bound(rest);
  double target = kind == Kind::NearOne ? 1 : 0.92;
  double gain = std::min({1.0, 0.999 * (target - size) / std::max(bound.slope, 1e-9),
                          0.999 * kState * (1 - size) / std::max(bound.size(), 1e-9)});
  double digits = std::pow(10, 2 - std::floor(std::log10(gain)));
  gain = std::floor(gain * digits) / digits;
  fine &= gain >= (kind == Kind::NearOne ? 1e-5 : 2e-3);
  return gain == 1 ? rest : makeSign("*", makeNumber(gain), rest);
}

/// A turn of the old number, and a drive. Where the step is solved for, the new value is in it too.
ExprPtr Generator::complexValue(const Decl& state, bool isImplicitNow) {
  double size = kind == Kind::NearOne ? random.pick({0.99, 0.998}) : expressions.number(0.1, 0.9);
  ExprPtr old = makeAt(state, 1);
  if (random.chance(0.2))
    old = makeCall("conj", {old});
  ExprPtr turned = makeSign("*", expressions.turn(state.shape), old);
  int depth = static_cast<int>(random.between(1, 3));
  ExprPtr rest;
  if (expressions.complexNumbers) {
    rest = expressions.complexExact(state.shape, depth);
  } else {
    ExprPtr re = expressions.exact(state.shape, depth);
    rest = makeCall("complex", {re, expressions.part(state.shape, depth)});
  }
  if (isImplicitNow) {
    ExprPtr now = makeAt(state, 0);
    ExprPtr bent = makeCall("complex", {makeCall("tanh", {makeCall("im", {now})}),
                                        makeCall("sin", {makeCall("re", {now})})});
    rest = makeSign(random.pick<const char*>({"+", "-"}), rest, random.chance(0.5) ? now : bent);
  }
  ExprPtr drive = driveBy(rest, size);
  return makeSign(random.chance(0.7) ? "+" : "-", makeSign("*", makeNumber(size), turned), drive);
}

/// decay * s[t-n] + gain * e: slopes and sizes add up to no more than is allowed.
ExprPtr Generator::contractive(const Decl& state, bool isImplicitNow) {
  double size = 0;
  ExprPtr factor = decay(state, size);
  std::vector<const Decl*> alike;
  for (const Decl& other : program.states)
    if (other.shape == state.shape && other.complex == state.complex)
      alike.push_back(&other);
  const Decl& read = random.chance(0.3) ? *random.pick(alike) : state;
  int64_t order = expressions.orders[read.name];
  ExprPtr linear =
      makeSign("*", factor, makeAt(read, kind == Kind::NearOne ? 1 : random.between(1, order)));
  ExprPtr rest = random.chance(0.85)
                     ? expressions.exact(state.shape, static_cast<int>(random.between(1, 4)))
                     : expressions.part(state.shape, 2);
  if (ExprPtr seen = random.chance(0.7) ? expressions.partOfFirstState(state.shape) : nullptr)
    rest = makeSign("+", seen, rest);
  if (isImplicitNow) {
    ExprPtr now = makeSign("*", makeNumber(expressions.number(-2, 2)), makeAt(state, 0));
    rest = makeSign(random.pick<const char*>({"+", "-", "*"}), rest,
                    makeCall(random.pick<const char*>({"tanh", "sin", "sigmoid", "erf"}), {now}));
  }
  ExprPtr driven = driveBy(rest, size);
  if (random.chance(0.4))
    std::swap(linear, driven);
  return makeSign(random.chance(0.8) ? "+" : "-", linear, driven);
}

ExprPtr Generator::wild(const Decl& state) {
  ExprPtr rest = expressions.exact(state.shape, static_cast<int>(random.between(2, 4)));
  ExprPtr old = makeAt(state, 1);
  ExprPtr all = makeSign("+", makeSign("*", makeNumber(expressions.number(-3, 3)), old), rest);
  return makeSign("*", makeNumber(kState),
                  makeCall(random.pick<const char*>({"tanh", "sin", "hard_tanh"}), {all}));
}

/// An equation that reads the new value of its own state, without jumps; null where none comes out.
ExprPtr Generator::implicit(const Decl& state) {
  expressions.defineState(state.name, 1);
  ExprPtr value = state.complex ? complexValue(state, true) : contractive(state, true);
  expressions.undefine(state.name);
  Program alone = program;
  alone.equations.push_back({state.name, true, value});
  return stabilityOf(alone).holds ? value : nullptr;
}

void Generator::addState(const Decl& state) {
  bool mayBeImplicit = (kind == Kind::Lanes || kind == Kind::Block) && !expressions.parts;
  ExprPtr value =
      mayBeImplicit && random.chance(state.complex ? 0.7 : 0.25) ? implicit(state) : nullptr;
  if (value)
    solved = true;
  else
    value = state.complex        ? complexValue(state, false)
            : kind == Kind::Wild ? wild(state)
                                 : contractive(state, false);
  program.equations.push_back({state.name, true, value});
  expressions.defineState(state.name, std::min(expressions.bound(value).slope, 1.0));
}

void Generator::addOutputs() {
  for (int64_t i = random.weighted({55, 35, 10}); i-- > 0;) {
    const Decl& read = program.states.front(); // of the base shape: it has every lane axis
    Decl output{"y" + std::to_string(program.outputs.size() + 1), read.shape, 0, false};
    output.complex = expressions.complexNumbers && random.chance(0.5);
    bool isReal = !output.complex || random.chance(0.2); // a real value becomes complex there
    ExprPtr value = makeSign(random.pick<const char*>({"+", "*", "-"}),
                             makeAt(read, static_cast<int64_t>(random.below(2))),
                             isReal ? expressions.part(read.shape, 3)
                                    : expressions.complexExact(read.shape, 3));
    // A readout: a sum over an axis of the state, after the solve where it is a lane axis.
    if (!read.shape.empty() && random.chance(0.3)) {
      auto axis = static_cast<size_t>(random.below(static_cast<int64_t>(read.shape.size())));
      output.shape.erase(output.shape.begin() + static_cast<std::ptrdiff_t>(axis));
      Expr sum = *makeReduction(random.pick<const char*>({"sum", "mean", isReal ? "max" : "sum"}),
                                value, axis, true);
      sum.numbered = true;
      value = std::make_shared<const Expr>(std::move(sum));
    }
    program.outputs.push_back(output);
    program.equations.push_back({output.name, true, value});
  }
  for (Decl& state : program.states) // one that nobody would see otherwise is no use
    state.hidden = !program.outputs.empty() && random.chance(0.15);
}

void Generator::chooseSchedule() {
  Setting::Schedule way;
  way.vector = static_cast<int>(random.between(1, 2));
  way.tiles = static_cast<int>(random.between(1, 2));
  way.chunk = random.pick<int64_t>({1, 2, 3, 5, 8, 16});
  if (random.chance(0.4))
    way.chunks = random.pick<int64_t>({2, 3, 5, 16, 32});
  way.threads = random.chance(0.2) ? 2 : 1;
  program.setting.schedules.push_back(way);
}

void Generator::chooseSetting() {
  Setting& setting = program.setting;
  setting.batch = random.pick<int64_t>({1, 1, 1, 2, 3, 5});
  if (random.chance(0.02))
    setting.batch = 0;
  chooseSchedule();
  if (random.chance(0.6))
    chooseSchedule();
  const Setting::Schedule& way = setting.schedules.front();
  int64_t chunks = way.chunks ? way.chunks : 16;
  setting.time = random.pick<int64_t>({0, 1, 2, way.chunk - 1, way.chunk, way.chunk + 1, 7, 31, 61,
                                       97, way.chunk * chunks, way.chunk * chunks + 1,
                                       2 * way.chunk * chunks + 3});
  setting.time = std::min<int64_t>(setting.time, 300);
  if (setting.time == 0 && random.chance(0.7))
    setting.time = 41;
  setting.isDouble = random.chance(0.6);
  setting.arch = random.pick<const char*>({"", "", "", "x86-64-v3", "x86-64-v2"});
  setting.contracts = kind != Kind::Wild;
  // A search among them may end nowhere, and what a complex number is of which a part is infinite
  // is a matter of the arithmetic (docs/language.md).
  bool isComplex = expressions.complexNumbers ||
                   std::ranges::any_of(program.states, [](const Decl& s) { return s.complex; });
  setting.strange = random.chance(0.06) && !solved && !isComplex;
  setting.data = random.next() >> 32;
}

bool Generator::run() {
  kind = std::vector{Kind::Lanes, Kind::Block, Kind::Dense, Kind::NearOne,
                     Kind::Wild}[random.weighted({34, 38, 8, 12, 8})];
  chooseDims();
  chooseStates();
  addFunctions();
  std::vector<Decl> states = program.states;
  for (const Decl& state : states) {
    addValues(1);
    addState(state);
  }
  addValues(1);
  addOutputs();
  if (random.chance(0.3))
    nameNumbers();
  if (random.chance(0.15))
    addHints();
  chooseSetting();
  return fine && stabilityOf(program).holds;
}

Program rnnc::generated::generate(uint64_t seed, uint64_t index) {
  Random seeds(seed * 0x9E3779B97F4A7C15u + index);
  while (true) {
    Generator generator(seeds.next());
    if (generator.run()) {
      // Most of the time goes into making kernels, and what is tried here is what they compute.
      generator.program.setting.isOptimised = index % 16 == 0;
      return std::move(generator.program);
    }
  }
}
