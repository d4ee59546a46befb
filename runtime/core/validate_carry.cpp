// The rules of module.h about the numbers of a carry.
#include "core/carry_form.hpp"
#include "core/status.hpp"

#include <string_view>
#include <vector>

namespace rnnc::runtime {
namespace {

class Validator {
public:
  explicit Validator(std::string_view where) : where_(where) {}

  void carry(const rnn_system_desc& system) const {
    if (system.carry == 0) {
      return;
    }
    if (!system.carry_place) {
      fail("`carry_place` is null");
    }
    for (uint32_t p = 0; system.diagonal && p < system.carry_places; ++p) {
      if (system.carry_place[p].row != system.carry_place[p].column) {
        fail("`carry_place` has ({}, {}), which is not on the diagonal", system.carry_place[p].row,
             system.carry_place[p].column);
      }
    }
    if (system.states > maxCarryStates) {
      fail("{} states with a carry; at most {} are possible", system.states, maxCarryStates);
    }
    int64_t last = -1;
    uint32_t known = 0;
    for (uint32_t p = 0; p < system.carry_places; ++p) {
      const rnn_carry_place& place = system.carry_place[p];
      const int64_t at = static_cast<int64_t>(place.row) * system.states + place.column;
      if (place.row >= system.states || place.column >= system.states || at <= last) {
        fail("`carry_place` is not a row-major list of places in a {0} x {0} block", system.states);
      }
      last = at;
      const bool isFirst = place.number == known;
      known += isFirst;
      if (place.number >= known || (place.sign != 1 && (isFirst || place.sign != -1))) {
        fail("`carry_place` has number {} with sign {} at ({}, {}); numbers count from 0 by first "
             "places, whose sign is 1",
             place.number, place.sign, place.row, place.column);
      }
    }
    if (known != system.carry) {
      fail("`carry_place` has {} numbers, `carry` says {}", known, system.carry);
    }
    closedForm(CarryForm(system));
  }

private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    invalid("{}: {}", where_, fmt::format(format, std::forward<Args>(args)...));
  }

  // The identity and every product have the form.
  void closedForm(const CarryForm& form) const {
    const rnn_system_desc& system = form.desc();
    std::vector<const rnn_carry_place*> first(system.carry);
    for (uint32_t i = 0; i < system.states; ++i) {
      if (!form.at(i, i)) {
        fail("`carry_place` lacks ({0}, {0})", i);
      }
      for (uint32_t j = 0; j < system.states; ++j) {
        const rnn_carry_place* place = form.at(i, j);
        if (!place && !form.product(i, j).empty()) {
          fail("`carry_place` lacks ({}, {}), which a product of two such matrices has", i, j);
        }
        if (!place) {
          continue;
        }
        const rnn_carry_place*& other = first[place->number];
        other = other ? other : place;
        CarryForm::Sum sum = form.product(i, j);
        for (auto& [factors, times] : sum) {
          times *= place->sign;
        }
        if (sum != form.product(other->row, other->column) ||
            (place != other &&
             ((i == j) != (other->row == other->column) || (i == j && place->sign != 1)))) {
          fail("`carry_place` has number {} at ({}, {}) and ({}, {}), where the identity or a "
               "product of two such matrices differs",
               place->number, other->row, other->column, i, j);
        }
      }
    }
  }

  std::string_view where_;
};

} // namespace

void validateCarry(const rnn_system_desc& system, std::string_view where) {
  Validator(where).carry(system);
}

} // namespace rnnc::runtime
