// A kernel's arguments without its types: what the host side of a solve knows.
#pragma once

#include <string>
#include <vector>

namespace emitted_test {

/// Where one scalar of a lane lies: strides in elements, in the order of rnn::slot.
struct Place {
  void* data = nullptr;
  std::vector<long long> strides;
};

struct StatePlaces {
  Place initial, final, sequence;
  double fill = 0;
};

struct Call {
  long long batch = 0, time = 0;
  std::vector<long long> lanes;
  double tolerance = 0;
  std::vector<StatePlaces> states;
  std::vector<Place> inputs, params, outputs;
};

/// An emitted unit that can be run: `run` gives the error of the launch, empty where it went well.
struct Unit {
  std::string name, file, system; ///< the file below the source folder
  bool isDouble;
  std::string (*run)(const Call& call);
};

/// All of them, in the order in which the linker put them.
std::vector<Unit>& units();

} // namespace emitted_test
