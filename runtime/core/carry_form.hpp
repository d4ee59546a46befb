// How the numbers of a carry make a matrix, and what that says of products.
#pragma once

#include "core/module.hpp"
#include "core/plan.hpp"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace rnnc::runtime {

/// The places of a table's carry by row and column.
class CarryForm {
public:
  explicit CarryForm(const rnn_system_desc& desc);

  /// Null where the matrix is identically zero.
  const rnn_carry_place* at(uint32_t row, uint32_t column) const {
    return index_[row * desc_.states + column];
  }
  const rnn_system_desc& desc() const { return desc_; }

  /// What a product of two such matrices has at a place: (left number, right number) to how often.
  using Sum = std::map<std::pair<uint32_t, uint32_t>, int32_t>;
  Sum product(uint32_t row, uint32_t column) const;

private:
  const rnn_system_desc& desc_;
  std::vector<const rnn_carry_place*> index_;
};

/// Throws where the carry breaks a rule of rnn_system_desc; `where` is what the text begins with.
void validateCarry(const rnn_system_desc& system, std::string_view where);

/// All terms of a product of two carries, by result.
std::vector<CarryTerm> productTerms(const CarryForm& form);

} // namespace rnnc::runtime
