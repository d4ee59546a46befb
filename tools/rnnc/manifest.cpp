#include "build_module.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>

using namespace rnnc;
using namespace rnnc::tool;
using Json = nlohmann::ordered_json;

static const char* roleName(rnn_role role) {
  constexpr const char* names[] = {"input", "param", "state", "output", "hoisted", "derived"};
  return names[role];
}

static Json describe(const rnn_tensor_desc& tensor) {
  Json json{{"name", tensor.name}, {"role", roleName(tensor.role)}};
  json["dims"] = Json::array();
  json["sizes"] = Json::array();
  for (uint32_t a = 0; a < tensor.rank; ++a) {
    json["dims"].push_back(tensor.dims[a]);
    json["sizes"].push_back(tensor.sizes[a] < 0 ? Json(nullptr) : Json(tensor.sizes[a]));
  }
  if (tensor.hidden)
    json["hidden"] = true;
  return json;
}

std::string rnnc::tool::manifestText(const Options& options, const rnn_module_table& table,
                                     const std::vector<std::string>& targets,
                                     const rnn_cuda_desc* cuda) {
  Json json{{"rnnc", RNNC_VERSION},
            {"cell", table.cell},
            {"file", std::filesystem::path(options.file).filename().string()},
            {"compute", computeType(options) == RNN_F64 ? "f64" : "f32"}};
  json["tensors"] = Json::array();
  for (uint32_t i = 0; i < table.tensors; ++i)
    if (table.tensor[i].role <= RNN_ROLE_OUTPUT) // the rest is the cell's own
      json["tensors"].push_back(describe(table.tensor[i]));
  json["gradients"] = table.adjoint != nullptr;
  json["targets"] = targets;
  std::set<int32_t> architectures;
  for (uint32_t i = 0; cuda && i < cuda->units; ++i)
    architectures.insert(cuda->unit[i].architecture);
  json["cuda"] = Json::array();
  for (int32_t architecture : architectures)
    json["cuda"].push_back("sm_" + std::to_string(architecture));
  return json.dump();
}
