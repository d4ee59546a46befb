// Our own bugs: a reproducer is written and its path printed, and the exit status is 70.
#pragma once

#include "console.h"

#include <string>

namespace rnnc::tool {

/// Turns crashes and LLVM's fatal errors, from here on, into a reproducer and exit status 70.
void watchForCrashes(const Options& options);

/// What a reproducer will hold: the module as the compiler was last given it.
void rememberModule(std::string text);

/// What the compiler said last about its own trouble; part of the next report.
void rememberDetail(std::string text);

/// Writes the reproducer; returns kBug.
int reportBug(const Console& console, const std::string& what);

} // namespace rnnc::tool
