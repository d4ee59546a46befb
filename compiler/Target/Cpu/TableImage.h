//===- TableImage.h - a module's table as constants of an object file ------------------------===//
#pragma once

#include "rnn/module.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

namespace rnnc {

/// Copies what a table points to into constants of an LLVM module, laid out as this process lays
/// out module.h. Every member is named once, so that a file holds nothing but them: no padding, and
/// the same bytes each time.
class TableImage {
public:
  explicit TableImage(llvm::Module& module) : module(module) {}

  /// The function that a kernel's pointer becomes; null where it stays null.
  using KernelOf =
      llvm::function_ref<llvm::Constant*(uint32_t system, uint32_t kernel, bool jacobian)>;

  /// `cuda`: what cuda() made, once for all tables; `adjoint`: what this made of the table's
  /// adjoint. Null where there is none.
  llvm::Constant* table(const rnn_module_table& table, llvm::Constant* cuda,
                        llvm::Constant* adjoint, KernelOf kernels);
  struct Variant {
    std::string target;
    llvm::Constant* table;
  };
  /// Defines `symbol`, which others see.
  llvm::GlobalVariable* bundle(llvm::StringRef symbol, llvm::StringRef cell,
                               llvm::StringRef manifest, llvm::ArrayRef<Variant> variants);
  llvm::Constant* cuda(const rnn_cuda_desc& cuda);

private:
  class Fields;
  llvm::Constant* text(const char* string);
  llvm::Constant* constant(const Fields& fields);
  template <class T, class Each>
  llvm::Constant* array(const T* data, size_t count, Each&& each);
  template <class T>
  llvm::Constant* numbers(const T* data, size_t count);
  llvm::Constant* texts(const char* const* data, size_t count);
  llvm::Constant* slots(const rnn_slot* slots, size_t count);
  llvm::Constant* systems(const rnn_system_desc* systems, size_t count, uint32_t first,
                          KernelOf kernels);
  llvm::Constant* product(const rnn_product* product);
  llvm::Constant* outer(const rnn_outer* outer);

  llvm::Module& module;
  llvm::StringMap<llvm::Constant*> strings;
};

} // namespace rnnc
