//===- TableImage.cpp - a module's table as constants of an object file ----------------------===//

#include "Target/Cpu/TableImage.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"

#include <cstring>
#include <vector>

using namespace rnnc;
using llvm::Constant;

/// Bytes with pointers in them.
class TableImage::Fields {
public:
  /// The next `size` bytes stand for the object at `object`.
  void begin(const void* object, size_t size) {
    base = static_cast<const char*>(object);
    start = bytes.size();
    bytes.resize(start + size);
  }
  template <class... T>
  void values(const T&... members) {
    (std::memcpy(bytes.data() + placeOf(&members), &members, sizeof(members)), ...);
  }
  /// A null `to` stays null.
  template <class T>
  void pointer(T* const& member, Constant* to) {
    if (to)
      pointers.push_back({placeOf(&member), to});
  }

  std::vector<uint8_t> bytes;
  std::vector<std::pair<size_t, Constant*>> pointers;

private:
  size_t placeOf(const void* member) const {
    return start + (static_cast<const char*>(member) - base);
  }
  const char* base = nullptr;
  size_t start = 0;
};

Constant* TableImage::text(const char* string) {
  if (!string)
    return nullptr;
  Constant*& known = strings[string];
  if (!known) {
    Constant* data = llvm::ConstantDataArray::getString(module.getContext(), string);
    auto* global = new llvm::GlobalVariable(module, data->getType(), true,
                                            llvm::GlobalValue::PrivateLinkage, data, "text");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    global->setAlignment(llvm::Align(1));
    known = global;
  }
  return known;
}

Constant* TableImage::constant(const Fields& fields) {
  llvm::LLVMContext& context = module.getContext();
  std::vector<Constant*> parts;
  size_t at = 0;
  auto addBytes = [&](size_t end) {
    if (end > at)
      parts.push_back(
          llvm::ConstantDataArray::get(context, llvm::ArrayRef(fields.bytes).slice(at, end - at)));
    at = end;
  };
  auto pointers = fields.pointers;
  llvm::sort(pointers, llvm::less_first());
  for (auto [place, to] : pointers) {
    addBytes(place);
    parts.push_back(to);
    at += sizeof(void*);
  }
  addBytes(fields.bytes.size());
  return llvm::ConstantStruct::getAnon(context, parts, /*Packed=*/true);
}

static llvm::GlobalVariable* define(llvm::Module& module, Constant* data) {
  auto* global = new llvm::GlobalVariable(module, data->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, data, "table");
  global->setAlignment(llvm::Align(alignof(std::max_align_t)));
  return global;
}

template <class T, class Each>
Constant* TableImage::array(const T* data, size_t count, Each&& each) {
  if (count == 0)
    return nullptr;
  Fields fields;
  for (size_t i = 0; i < count; ++i) {
    fields.begin(&data[i], sizeof(T));
    each(data[i], fields);
  }
  return define(module, constant(fields));
}

template <class T>
Constant* TableImage::numbers(const T* data, size_t count) {
  return array(data, count, [](const T& number, Fields& f) { f.values(number); });
}

Constant* TableImage::texts(const char* const* data, size_t count) {
  return array(data, count,
               [&](const char* const& string, Fields& f) { f.pointer(string, text(string)); });
}

Constant* TableImage::slots(const rnn_slot* slots, size_t count) {
  return array(slots, count, [](const rnn_slot& slot, Fields& f) {
    f.values(slot.tensor, slot.back, slot.lane_axis, slot.at);
  });
}

Constant* TableImage::systems(const rnn_system_desc* systems, size_t count, uint32_t first,
                              KernelOf kernels) {
  return array(systems, count, [&](const rnn_system_desc& s, Fields& f) {
    uint32_t index = first + static_cast<uint32_t>(&s - systems);
    f.pointer(s.name, text(s.name));
    f.values(s.lane_rank, s.states, s.inputs, s.params, s.outputs, s.carry, s.carry_places,
             s.linear, s.constant, s.diagonal, s.implicit, s.kernels, s.block_rank, s.temporaries,
             s.sums);
    f.values(s.cost.step_latency, s.cost.step_throughput, s.cost.jacobian_throughput);
    f.pointer(s.lane_axes, texts(s.lane_axes, s.lane_rank));
    f.pointer(s.lane_sizes, numbers(s.lane_sizes, s.lane_rank));
    f.pointer(s.state_slots, slots(s.state_slots, s.states));
    f.pointer(s.input_slots, slots(s.input_slots, s.inputs));
    f.pointer(s.param_slots, slots(s.param_slots, s.params));
    f.pointer(s.output_slots, slots(s.output_slots, s.outputs));
    f.pointer(s.sum_slots, slots(s.sum_slots, s.sums));
    f.pointer(s.carry_place,
              array(s.carry_place, s.carry_places, [](const rnn_carry_place& place, Fields& f) {
                f.values(place.row, place.column, place.number, place.sign);
              }));
    f.pointer(s.kernel, array(s.kernel, s.kernels, [&](const rnn_cpu_kernel& kernel, Fields& f) {
                uint32_t number = static_cast<uint32_t>(&kernel - s.kernel);
                f.values(kernel.compute, kernel.width);
                f.pointer(kernel.shoot, kernels(index, number, false));
                f.pointer(kernel.shoot_jacobian, kernels(index, number, true));
              }));
    f.pointer(s.block_dims, texts(s.block_dims, s.block_rank));
    f.pointer(s.block_sizes, numbers(s.block_sizes, s.block_rank));
    f.pointer(s.temporary,
              array(s.temporary, s.temporaries, [](const rnn_temporary& array, Fields& f) {
                f.values(array.rank, array.dim);
              }));
  });
}

Constant* TableImage::product(const rnn_product* product) {
  return array(product, product ? 1 : 0, [&](const rnn_product& p, Fields& f) {
    f.values(p.sequence, p.back, p.heads, p.left, p.parts);
    f.pointer(p.part, array(p.part, p.parts, [](const rnn_product_part& part, Fields& f) {
                f.values(part.weight, part.bias, part.result);
              }));
  });
}

Constant* TableImage::outer(const rnn_outer* outer) {
  return array(outer, outer ? 1 : 0, [](const rnn_outer& o, Fields& f) {
    for (const rnn_slot* slot : {&o.left, &o.right, &o.result})
      f.values(slot->tensor, slot->back, slot->lane_axis, slot->at);
    f.values(o.axes, o.guarded, o.negative);
  });
}

Constant* TableImage::cuda(const rnn_cuda_desc& cuda) {
  return array(&cuda, 1, [&](const rnn_cuda_desc& c, Fields& f) {
    f.values(c.size, c.units);
    f.pointer(c.unit, array(c.unit, c.units, [&](const rnn_cuda_unit& unit, Fields& f) {
                f.pointer(unit.name, text(unit.name));
                f.pointer(unit.text, text(unit.text));
                f.values(unit.architecture, unit.compute, unit.schedule, unit.entries);
                f.pointer(unit.entry,
                          array(unit.entry, unit.entries, [&](const rnn_cuda_entry& e, Fields& f) {
                            f.pointer(e.name, text(e.name));
                            f.values(e.lanes, e.chunks, e.steps, e.shared_bytes, e.argument_bytes);
                          }));
              }));
  });
}

Constant* TableImage::table(const rnn_module_table& table, Constant* cuda, Constant* adjoint,
                            KernelOf kernels) {
  return array(&table, 1, [&](const rnn_module_table& t, Fields& f) {
    f.values(t.abi_version, t.size, t.tensors, t.systems, t.stages);
    f.values(t.solve.has_tolerance, t.solve.tolerance, t.solve.max_sweeps, t.solve.chunk);
    f.pointer(t.cell, text(t.cell));
    f.pointer(t.tensor, array(t.tensor, t.tensors, [&](const rnn_tensor_desc& tensor, Fields& f) {
                f.pointer(tensor.name, text(tensor.name));
                f.values(tensor.role, tensor.rank, tensor.fill, tensor.hidden, tensor.start,
                         tensor.relation, tensor.of, tensor.back);
                f.pointer(tensor.dims, texts(tensor.dims, tensor.rank));
                f.pointer(tensor.sizes, numbers(tensor.sizes, tensor.rank));
                f.pointer(tensor.holds, text(tensor.holds));
              }));
    f.pointer(t.system, systems(t.system, t.systems, 0, kernels));
    f.pointer(t.stage, array(t.stage, t.stages, [&](const rnn_stage& stage, Fields& f) {
                uint32_t number = static_cast<uint32_t>(&stage - t.stage);
                f.values(stage.phase);
                f.pointer(stage.product, product(stage.product));
                f.pointer(stage.map,
                          systems(stage.map, stage.map ? 1 : 0, t.systems + number, kernels));
                f.pointer(stage.outer, outer(stage.outer));
              }));
    f.pointer(t.cuda, cuda);
    f.pointer(t.adjoint, adjoint);
  });
}

llvm::GlobalVariable* TableImage::bundle(llvm::StringRef symbol, llvm::StringRef cell,
                                         llvm::StringRef manifest,
                                         llvm::ArrayRef<Variant> variants) {
  rnn_module_bundle bundle{};
  bundle.abi_version = RNN_ABI_VERSION;
  bundle.size = sizeof(bundle);
  bundle.variants = variants.size();
  std::vector<rnn_module_variant> empty(variants.size());
  Fields fields;
  fields.begin(&bundle, sizeof(bundle));
  fields.values(bundle.abi_version, bundle.size, bundle.variants);
  fields.pointer(bundle.cell, text(cell.str().c_str()));
  fields.pointer(bundle.manifest, text(manifest.str().c_str()));
  fields.pointer(bundle.variant,
                 array(empty.data(), empty.size(), [&](const rnn_module_variant& v, Fields& f) {
                   const Variant& variant = variants[&v - empty.data()];
                   f.pointer(v.target, text(variant.target.c_str()));
                   f.pointer(v.table, variant.table);
                 }));
  llvm::GlobalVariable* global = define(module, constant(fields));
  global->setLinkage(llvm::GlobalValue::ExternalLinkage);
  global->setName(symbol);
  return global;
}
