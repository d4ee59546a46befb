#include "core/carry_form.hpp"

namespace rnnc::runtime {

CarryForm::CarryForm(const rnn_system_desc& desc)
    : desc_(desc), index_(size_t(desc.states) * desc.states, nullptr) {
  for (uint32_t p = 0; p < desc.carry_places; ++p) {
    const rnn_carry_place& place = desc.carry_place[p];
    index_[place.row * desc.states + place.column] = &place;
  }
}

CarryForm::Sum CarryForm::product(uint32_t row, uint32_t column) const {
  Sum sum;
  for (uint32_t m = 0; m < desc_.states; ++m) {
    const rnn_carry_place* left = at(row, m);
    const rnn_carry_place* right = at(m, column);
    if (left && right) {
      sum[{left->number, right->number}] += left->sign * right->sign;
    }
  }
  std::erase_if(sum, [](const auto& term) { return term.second == 0; });
  return sum;
}

// A number's first place stands for all of them.
std::vector<CarryTerm> productTerms(const CarryForm& form) {
  std::vector<CarryTerm> terms;
  const rnn_system_desc& desc = form.desc();
  uint32_t next = 0;
  for (uint32_t p = 0; p < desc.carry_places; ++p) {
    const rnn_carry_place& place = desc.carry_place[p];
    if (place.number != next) {
      continue;
    }
    ++next;
    for (const auto& [factors, times] : form.product(place.row, place.column)) {
      terms.push_back({place.number, factors.first, factors.second, times});
    }
  }
  return terms;
}

} // namespace rnnc::runtime
