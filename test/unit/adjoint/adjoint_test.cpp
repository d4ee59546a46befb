//===- adjoint_test.cpp - the derived adjoint, interpreted, against reverse mode -------------===//
//
// The adjoint of a cell is a cell, so the interpreter runs it too: on what the solve left behind,
// its time turned round. Its results are the gradients that the interpreter takes by itself.
//
//===----------------------------------------------------------------------------------------------===//

#include "interpret.h"

#include "Analysis/Adjoint.h"
#include "Transforms/Passes.h"
#include "rnnc/Compiler.h"
#include "rnnc/Frontend.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <filesystem>
#include <random>

using namespace rnnc;
using namespace rnnc::interpreter_test;
using Declaration = Interpreter::Declaration;
using Role = Declaration::Role;

namespace {

/// Of one step, or of one batch element.
size_t sizeOf(const Shape& shape) {
  size_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Shape prepend(Shape front, const Shape& rest) {
  front.insert(front.end(), rest.begin(), rest.end());
  return front;
}

/// A cell beside its adjoint, both over real arrays.
struct Pair {
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::map<std::string, int64_t> dims;

  Pair(DiagnosticEngine& diagnostics, int64_t dim) : module(parseToRnn(*context, {}, diagnostics)) {
    std::string said;
    llvm::raw_string_ostream out(said);
    diagnostics.print(out, false);
    if (!module) {
      ADD_FAILURE() << said;
      abort();
    }
    mlir::PassManager passes(context.get(), mlir::ModuleOp::getOperationName());
    passes.addPass(createLowerComplex());
    passes.addPass(createLiftOrder());
    passes.addPass(createDeriveAdjoint());
    EXPECT_TRUE(mlir::succeeded(passes.run(*module)));
    for (auto decl : cell().decls<rnn::DimDeclOp>())
      if (!decl.getSize())
        dims[decl.getSymName().str()] = dim;
  }
  rnn::CellOp cell() { return *module->getOps<rnn::CellOp>().begin(); }
  rnn::CellOp adjoint() {
    return module->lookupSymbol<rnn::CellOp>((cell().getSymName() + kAdjointSuffix).str());
  }
};

class Trial {
public:
  Trial(Pair& pair, int64_t batch, int64_t time, bool givesStates)
      : pair(pair), batch(batch), time(time), forward(interpret(pair.cell(), pair.dims)),
        backward(interpret(pair.adjoint(), pair.dims)) {
    for (const Declaration& decl : forward.declarations()) {
      if (decl.role == Role::Input)
        inputs[decl.name] = draw({batch, time}, decl, -1, 1);
      else if (decl.role == Role::Param)
        params[decl.name] = draw({}, decl, 0.1, 0.9);
      else if (!decl.hidden)
        upstream.sequences[decl.name] = draw({batch, time}, decl, -1, 1);
      if (decl.role == Role::State) {
        upstream.finals[decl.name] = draw({batch}, decl, -1, 1);
        if (givesStates)
          initial[decl.name] = draw({batch}, decl, 0.1, 0.9);
      }
    }
  }

  void compare() {
    auto expected = get(forward.backward(batch, time, inputs, params, initial, upstream));
    solved = get(forward.run(batch, time, inputs, params, initial));
    Arrays adjointInputs, adjointParams, carried;
    for (const Declaration& decl : backward.declarations()) {
      rnn::OfAttr of = ofDeclaration(decl.name);
      if (decl.role == Role::Param)
        adjointParams[decl.name] = params.at(decl.name);
      else if (decl.role == Role::Input)
        adjointInputs[decl.name] = turned(of.getRelation() == rnn::Relation::Upstream
                                              ? upstream.sequences.at(of.getName().str())
                                              : earlier(of.getName().str(), of.getBack()));
      else if (of && of.getRelation() == rnn::Relation::Carried)
        carried[decl.name] = upstream.finals.at(of.getName().str());
    }
    auto result = get(backward.run(batch, time, adjointInputs, adjointParams, carried));
    Interpreter::Gradients got;
    for (const Declaration& decl : forward.declarations()) {
      if (decl.role == Role::Input)
        got.inputs[decl.name] = zeros({batch, time}, decl);
      else if (decl.role == Role::Param)
        got.params[decl.name] = zeros({}, decl);
    }
    for (const Declaration& decl : backward.declarations()) {
      rnn::OfAttr of = ofDeclaration(decl.name);
      std::string name = of ? of.getName().str() : "";
      if (decl.role == Role::State && of)
        got.initial[name] = result.finals.at(decl.name);
      else if (decl.role == Role::Output && got.inputs.contains(name))
        addEarlier(turned(result.sequences.at(decl.name)), of.getBack(), got.inputs[name]);
      else if (decl.role == Role::Output)
        addSum(result.sequences.at(decl.name), decl.shape, got.params[name], batch * time);
    }
    for (const Declaration& decl : forward.declarations())
      if (!decl.start.empty() && !initial.contains(decl.name))
        addSum(got.initial[decl.name], decl.shape, got.params[decl.start], batch);
    compare(got.inputs, expected.inputs);
    compare(got.params, expected.params);
    compare(got.initial, expected.initial);
  }

private:
  rnn::OfAttr ofDeclaration(const std::string& name) {
    return mlir::SymbolTable::lookupSymbolIn(pair.adjoint(), name)
        ->getAttrOfType<rnn::OfAttr>(kOfAttr);
  }
  static Array zeros(Shape front, const Declaration& decl) {
    Shape shape = prepend(front, decl.shape);
    return {shape, Doubles(sizeOf(shape))};
  }
  Array draw(Shape front, const Declaration& decl, double low, double high) {
    Array array = zeros(front, decl);
    for (double& x : array.data)
      x = std::uniform_real_distribution(low, high)(random);
    return array;
  }
  size_t each(const Array& sequence) const {
    return sequence.data.size() / static_cast<size_t>(batch * time);
  }
  /// Time runs backwards in it.
  Array turned(const Array& sequence) const {
    Array result = sequence;
    const size_t count = each(sequence);
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t t = 0; t < time; ++t)
        std::copy_n(&sequence.data[(b * time + time - 1 - t) * count], count,
                    &result.data[(b * time + t) * count]);
    return result;
  }
  /// What the cell had so many steps ago, at every step.
  Array earlier(const std::string& name, int64_t back) const {
    const Declaration* decl = nullptr;
    for (const Declaration& any : forward.declarations())
      decl = any.name == name ? &any : decl;
    const Array& now = decl->role == Role::State ? solved.sequences.at(name) : inputs.at(name);
    Array result = now;
    const size_t count = each(now);
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t t = 0; t < time; ++t)
        for (size_t i = 0; i < count; ++i)
          result.data[(b * time + t) * count + i] =
              t >= back ? now.data[(b * time + t - back) * count + i] : before(*decl, b, i, count);
    return result;
  }
  double before(const Declaration& decl, int64_t b, size_t i, size_t count) const {
    if (decl.role == Role::State && initial.contains(decl.name))
      return initial.at(decl.name).data[b * count + i];
    if (decl.start.empty())
      return decl.fill;
    const Array& start = params.at(decl.start);
    return start.data[broadcastFrom(decl.shape, i, start.shape)];
  }
  /// The element of `small` that element i of `shape` has by broadcasting.
  static size_t broadcastFrom(const Shape& shape, size_t i, const Shape& small) {
    size_t place = 0, stride = 1;
    for (size_t a = 0; a < shape.size(); ++a) { // from the right
      const size_t size = shape[shape.size() - 1 - a], index = i % size;
      i /= size;
      if (a >= small.size())
        continue;
      const size_t own = small[small.size() - 1 - a];
      place += own == 1 ? 0 : index * stride;
      stride *= own;
    }
    return place;
  }
  void addEarlier(const Array& sequence, int64_t back, Array& to) const {
    const size_t count = each(sequence);
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t t = back; t < time; ++t)
        for (size_t i = 0; i < count; ++i)
          to.data[(b * time + t - back) * count + i] += sequence.data[(b * time + t) * count + i];
  }
  static void addSum(const Array& array, const Shape& shape, Array& to, int64_t times) {
    const size_t count = array.data.size() / static_cast<size_t>(times);
    for (size_t i = 0; i < array.data.size(); ++i)
      to.data[broadcastFrom(shape, i % count, to.shape)] += array.data[i];
  }
  static void compare(const Arrays& got, const Arrays& expected) {
    EXPECT_EQ(got.size(), expected.size());
    for (auto& [name, array] : expected) {
      ASSERT_TRUE(got.contains(name)) << name;
      ASSERT_EQ(got.at(name).shape, array.shape) << name;
      for (size_t i = 0; i < array.data.size(); ++i)
        EXPECT_NEAR(got.at(name).data[i], array.data[i], 1e-12 * (1 + std::fabs(array.data[i])))
            << "d loss / d " << name << ", element " << i;
    }
  }

  Pair& pair;
  int64_t batch, time;
  Interpreter forward, backward;
  std::mt19937 random{11};
  Arrays inputs, params, initial;
  Interpreter::Result upstream, solved;
};

std::vector<std::string> exampleFiles() {
  std::vector<std::string> files;
  for (auto& entry : std::filesystem::directory_iterator(RNN_EXAMPLES))
    if (entry.path().extension() == ".rnn")
      files.push_back(entry.path().stem());
  std::sort(files.begin(), files.end());
  return files;
}

class Example : public testing::TestWithParam<std::string> {};

TEST_P(Example, AdjointGivesTheGradients) {
  DiagnosticEngine diagnostics;
  ASSERT_TRUE(readSource(RNN_EXAMPLES + std::string("/") + GetParam() + ".rnn", {}, diagnostics));
  Pair pair(diagnostics, 2);
  for (bool givesStates : {true, false})
    Trial(pair, 2, 5, givesStates).compare();
}

INSTANTIATE_TEST_SUITE_P(All, Example, testing::ValuesIn(exampleFiles()),
                         [](const auto& info) { return info.param; });

void compareText(std::string text) {
  DiagnosticEngine diagnostics;
  diagnostics.setSource("test.rnn", std::move(text));
  Pair pair(diagnostics, 3);
  for (bool givesStates : {true, false})
    Trial(pair, 2, 6, givesStates).compare();
}

TEST(Adjoint, DelaysOrdersAndLearnedStarts) {
  compareText(R"(cell C {
    dim d
    input x : [d]
    input u : []
    param a, b : [d]
    param s : []
    state h : [d] = s
    output y : [d]
    h[t] = 0.5 * tanh(a * h[t-1] + b * h[t-3] + x[t] * x[t-2] * u[t-1])
    y[t] = h[t] * x[t-1] + h[t-2] + u[t]
  })");
}

TEST(Adjoint, ImplicitStepsInSeveralLevels) {
  compareText(R"(cell C {
    dim d
    input x : [d]
    param a : [d]
    state p, q, r : [d] = 0
    output y : [d]
    p[t] = 0.3 * p[t-1] + x[t] - 0.3 * q[t] * a
    q[t] = 0.5 * tanh(p[t]) + 0.1 * q[t-1]
    r[t] = 0.5 * r[t-1] + p[t] - 0.2 * r[t] * r[t] * r[t]
    y[t] = r[t] * q[t]
  })");
}

TEST(Adjoint, ComplexNumbers) {
  compareText(R"(cell C {
    dim d
    input u : complex [d]
    param w : complex [d]
    param v : [d]
    state z : complex [d] = 0
    output y : [d]
    output e : complex []
    z[t] = exp(0.1 * w) * z[t-1] / (1 + v * u[t]) - conj(u[t]) * complex(v, 0.5)
    y[t] = re(z[t]) * im(z[t]) + abs(z[t])
    e[t] = sum(z[t] * u[t]) + mean(where(v > 0.5, z[t], -u[t]))
  })");
}

TEST(Adjoint, MatricesReductionsAndParts) {
  compareText(R"(cell C {
    dim d
    input x : [4]
    param W : [4, 4]
    param V : [d, 3, 4]
    param U : [3, d, 4]
    state S : [d, 4] = 0
    output y : [d, 3]
    output m : [d]
    output n : [3, d]
    k = softmax(x[t]) + concat(x[t][2:4], x[t][0:2])
    S[t] = 0.2 * (S[t-1] @ W.T) + 0.1 * norm(x[t]) * k
    y[t] = V @ S[t]
    n[t] = U @ x[t]
    m[t] = max(S[t]) + min(S[t] * x[t]) + logsumexp(S[t]) + sum(sum(outer(x[t], x[t])))
  })");
}

TEST(Adjoint, EveryFunction) {
  for (const char* f : {"exp(v)",
                        "expm1(v)",
                        "log(1.5 + v)",
                        "log1p(v)",
                        "sqrt(1.5 + v)",
                        "rsqrt(1.5 + v)",
                        "sin(v)",
                        "cos(v)",
                        "tan(v)",
                        "asin(0.5 * v)",
                        "acos(0.5 * v)",
                        "atan(v)",
                        "sinh(v)",
                        "cosh(v)",
                        "tanh(v)",
                        "sigmoid(v)",
                        "softplus(v)",
                        "relu(v)",
                        "gelu(v)",
                        "silu(v)",
                        "hard_sigmoid(4 * v)",
                        "hard_tanh(2 * v)",
                        "erf(v)",
                        "abs(v)",
                        "sign(v)",
                        "floor(3 * v)",
                        "v * a",
                        "v / (1.5 + a)",
                        "a / (1.5 + v)",
                        "pow(1.5 + v, a)",
                        "pow(v, 3)",
                        "min(v, a)",
                        "max(v, a)",
                        "atan2(v, a)",
                        "where(v > 0 and not (a < 0.2), v, a)"}) {
    SCOPED_TRACE(f);
    compareText("cell C {\n  dim d\n  input x : [d]\n  param a : [d]\n  state h : [d] = 0\n"
                "  output y : [d]\n  v = 0.5 * h[t-1] + 0.4 * x[t]\n  h[t] = 0.5 * tanh(v)\n"
                "  y[t] = " +
                std::string(f) + "\n}\n");
  }
}

TEST(Adjoint, EqualExtremesShare) {
  compareText("cell C {\n  input x : [3]\n  state h : [3] = 0\n"
              "  h[t] = 0.5 * h[t-1] + max(0 * x[t]) * x[t]\n}\n");
}

TEST(Adjoint, AnAdjointOfNothingPassesNothingOn) {
  // 1 / sqrt(0), and infinity, of branches that are not taken.
  compareText(R"(cell C {
    dim d
    input x : [d]
    param a : [d]
    state h : [d] = 0
    output y, z : [d]
    h[t] = 0.5 * h[t-1] + where(h[t-1] != 0, sqrt(abs(h[t-1])), 0) + x[t]
    y[t] = where(x[t] > 9, exp(1e3 * a), a * x[t])
    z[t] = where(x[t] > 9, a / relu(x[t] - 9), x[t] * a)
  })");
}

} // namespace
