//===- numbers.h - the arrays that a program runs on ------------------------------------------===//
#pragma once

#include "program.h"

#include "check/probe.h"

namespace rnnc::generated {

/// The arrays of a call, by the names of the original program.
class Numbers {
public:
  explicit Numbers(const Setting& setting) : setting(setting) {}

  std::vector<double> draw(rnn_arg_kind kind, const std::string& name, double fill,
                           size_t count) const;
  check::CallBuffers call(const CompiledCell& cell, const Program& program, int64_t time,
                          const std::map<std::string, std::string>* original = nullptr) const;

private:
  const Setting& setting;
};

} // namespace rnnc::generated
