//===- table_text.cpp - everything a table says, to be compared -------------------------------===//

#include "table_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

using namespace rnnc;

namespace {

class Writer {
public:
  void write(const rnn_module_table& t);
  std::string text;

private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  static const char* orNone(const char* string) { return string ? string : "-"; }
  template <class T>
  static std::span<const T> list(const T* data, uint32_t count) {
    return {data, count};
  }
  void write(const rnn_system_desc& s);
  void write(const char* what, std::span<const rnn_slot> slots);
  void write(const rnn_product& p);
  void write(const rnn_outer& o);
};

} // namespace

void Writer::write(const char* what, std::span<const rnn_slot> slots) {
  for (const rnn_slot& slot : slots)
    line("  {}: {} {} {} {}", what, slot.tensor, slot.back, slot.lane_axis, slot.at);
}

void Writer::write(const rnn_system_desc& s) {
  line("system {} lanes {} {}", s.name, list(s.lane_axes, s.lane_rank),
       list(s.lane_sizes, s.lane_rank));
  write("state", list(s.state_slots, s.states));
  write("input", list(s.input_slots, s.inputs));
  write("param", list(s.param_slots, s.params));
  write("output", list(s.output_slots, s.outputs));
  write("sum", list(s.sum_slots, s.sums));
  line("  carry {} linear {} constant {} diagonal {} implicit {}", s.carry, s.linear, s.constant,
       s.diagonal, s.implicit);
  for (const rnn_carry_place& place : list(s.carry_place, s.carry_places))
    line("  place {} {} {} {}", place.row, place.column, place.number, place.sign);
  line("  cost {} {} {}", s.cost.step_latency, s.cost.step_throughput, s.cost.jacobian_throughput);
  for (const rnn_cpu_kernel& kernel : list(s.kernel, s.kernels))
    line("  kernel {} {}", int(kernel.compute), kernel.width);
  line("  block {} {}", list(s.block_dims, s.block_rank), list(s.block_sizes, s.block_rank));
  for (const rnn_temporary& array : list(s.temporary, s.temporaries))
    line("  temporary {} {}", array.rank, array.dim);
}

void Writer::write(const rnn_product& p) {
  line("  product {} {} {} {}", p.sequence, p.back, p.heads, p.left);
  for (const rnn_product_part& part : list(p.part, p.parts))
    line("  part {} {} {}", part.weight, part.bias, part.result);
}

void Writer::write(const rnn_outer& o) {
  line("  outer axes {} guarded {} negative {}", o.axes, o.guarded, o.negative);
  write("left", list(&o.left, 1));
  write("right", list(&o.right, 1));
  write("result", list(&o.result, 1));
}

void Writer::write(const rnn_module_table& t) {
  line("{} version {}", t.cell, t.abi_version);
  line("solve {} {} {} {}", t.solve.has_tolerance, t.solve.tolerance, t.solve.max_sweeps,
       t.solve.chunk);
  for (const rnn_tensor_desc& tensor : list(t.tensor, t.tensors))
    line("tensor {} {} {} {} {} {} {} {} {} {} {}", tensor.name, int(tensor.role),
         list(tensor.dims, tensor.rank), list(tensor.sizes, tensor.rank), tensor.fill,
         tensor.hidden, tensor.start, orNone(tensor.holds), int(tensor.relation), tensor.of,
         tensor.back);
  for (const rnn_system_desc& system : list(t.system, t.systems))
    write(system);
  for (const rnn_stage& stage : list(t.stage, t.stages)) {
    line("stage {}", int(stage.phase));
    if (stage.product)
      write(*stage.product);
    if (stage.map)
      write(*stage.map);
    if (stage.outer)
      write(*stage.outer);
  }
  if (t.adjoint) {
    line("adjoint");
    write(*t.adjoint);
  }
}

std::string rnnc::tableText(const rnn_module_table& table) {
  Writer writer;
  writer.write(table);
  return writer.text;
}
