//===- load_test.cpp - rnn_module_load and rnn_module_from_bundle
//------------------------------===//

#include "check/handles.h"
#include "core/bundle.hpp"
#include "core/status.hpp"
#include "rnn/rnn.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <vector>

using namespace rnnc;

namespace {

struct Case {
  const char* name;
  const char* file;
  const char* cell;
  const char* compute;
  const char* library;
  bool gradients;
};
constexpr Case kCases[] = {
#include "module_files.inc"
};

class LoadTest : public testing::Test {
protected:
  /// The status; what went wrong is in errorText.
  rnn_status load(const char* path) {
    rnn_module* made = reinterpret_cast<rnn_module*>(8);
    rnn_status status = rnn_module_load(context.get(), path, &made);
    module.reset(made);
    return status;
  }
  std::string errorText() const { return rnn_error_text(context.get()); }

  ContextPtr context = makeContext();
  ModulePtr module;
};

bool isLoaded(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library)
    dlclose(library);
  return library != nullptr;
}

TEST_F(LoadTest, TakesTheBestVariantOfThisProcessor) {
  ASSERT_EQ(load(kCases[0].library), RNN_OK) << errorText();
  const rnn_signature* signature = nullptr;
  ASSERT_EQ(rnn_module_describe(module.get(), &signature), RNN_OK);
  void* library = dlopen(kCases[0].library, RTLD_NOW);
  const auto* bundle = static_cast<const rnn_module_bundle*>(dlsym(library, RNN_BUNDLE_SYMBOL));
  EXPECT_EQ(signature->table, runtime::chooseVariant(*bundle, runtime::processorLevel()));
  // The same symbol as in an object file.
  EXPECT_EQ(static_cast<const void*>(bundle), dlsym(library, "rnn_cell_ParaLSTM"));
  dlclose(library);
}

TEST_F(LoadTest, StaysLoadedAsLongAsAPlan) {
  const char* path = kCases[0].library;
  ASSERT_FALSE(isLoaded(path));
  ASSERT_EQ(load(path), RNN_OK) << errorText();
  rnn_dim_value dim{"d", 4};
  rnn_plan_options options{};
  options.size = sizeof(options);
  options.dims = 1;
  options.dim = &dim;
  options.batch = 1;
  options.time = 8;
  rnn_plan* plan = nullptr;
  ASSERT_EQ(rnn_plan_create(module.get(), &options, &plan), RNN_OK) << errorText();
  module.reset();
  EXPECT_TRUE(isLoaded(path));
  rnn_plan_destroy(plan);
  EXPECT_FALSE(isLoaded(path));
}

TEST_F(LoadTest, AFileWithoutAFolderIsNotSearchedFor) {
  auto before = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(kCases[0].library).parent_path());
  EXPECT_EQ(load("paralstm.so"), RNN_OK) << errorText();
  EXPECT_EQ(load("libc.so.6"), RNN_INVALID_ARGUMENT);
  EXPECT_NE(errorText().find("./libc.so.6"), std::string::npos) << errorText();
  std::filesystem::current_path(before);
}

TEST_F(LoadTest, RefusesWhatIsNoModule) {
  const std::string folder = testing::TempDir();
  const std::string text = folder + "/module_text.so", cut = folder + "/module_cut.so",
                    half = folder + "/module_half.so";
  std::ofstream(text) << std::string(1000, '?');
  for (const auto& [path, bytes] : {std::pair(cut, 100), std::pair(half, 40000)}) {
    std::filesystem::copy_file(kCases[0].library, path,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path, bytes);
  }
  const std::pair<std::string, const char*> bad[] = {
      {folder + "/module_not_there.so", "cannot open shared object file"},
      {text, "invalid ELF header"},
      {cut, "is cut short: 100 bytes of"},
      {half, "is cut short: 40000 bytes of"},
      {folder, "cannot read file data"},
      {NO_MODULE, "was not written by rnnc build: it has no symbol rnn_bundle"},
      {OLD_MODULE, "was built for version 4 of the module interface, this runtime has 3"},
      {"", "argument `path` is empty"}};
  for (const auto& [path, why] : bad) {
    EXPECT_EQ(load(path.c_str()), RNN_INVALID_ARGUMENT) << path;
    EXPECT_EQ(module, nullptr);
    EXPECT_NE(errorText().find(why), std::string::npos) << path << ": " << errorText();
    EXPECT_EQ(errorText().find("rnn_module_load: argument `path`"), 0u) << errorText();
  }
  EXPECT_FALSE(isLoaded(NO_MODULE));
  EXPECT_FALSE(isLoaded(OLD_MODULE));
  EXPECT_EQ(load(nullptr), RNN_INVALID_ARGUMENT);
  EXPECT_EQ(errorText(), "rnn_module_load: argument `path` is null");
  EXPECT_EQ(rnn_module_load(context.get(), "x.so", nullptr), RNN_INVALID_ARGUMENT);
  EXPECT_EQ(errorText(), "rnn_module_load: argument `out` is null");
}

class BundleTest : public LoadTest {
public:
  void SetUp() override {
    ASSERT_EQ(load(kCases[0].library), RNN_OK) << errorText();
    const rnn_signature* signature = nullptr;
    rnn_module_describe(module.get(), &signature);
    table = *signature->table;
    variants = {{"x86-64-v2", &tables[0]}, {"x86-64-v3", &tables[1]}, {"x86-64-v4", &tables[2]}};
    for (rnn_module_table& each : tables)
      each = table;
    bundle = {RNN_ABI_VERSION, sizeof(bundle), "ParaLSTM", "{}", 3, variants.data()};
  }
  rnn_status from() {
    rnn_module* made = nullptr;
    rnn_status status = rnn_module_from_bundle(context.get(), &bundle, &made);
    ModulePtr free(made);
    return status;
  }

  rnn_module_table table{}, tables[3]{};
  std::vector<rnn_module_variant> variants;
  rnn_module_bundle bundle{};
};

TEST_F(BundleTest, EveryLevelTakesItsOwn) {
  EXPECT_EQ(runtime::chooseVariant(bundle, 2), &tables[0]);
  EXPECT_EQ(runtime::chooseVariant(bundle, 3), &tables[1]);
  EXPECT_EQ(runtime::chooseVariant(bundle, 4), &tables[2]);
  variants[2].target = "x86-64-v5"; // of a time to come: nothing here knows what it needs
  EXPECT_EQ(runtime::chooseVariant(bundle, 4), &tables[1]);
  variants[0].target = "any";
  EXPECT_EQ(runtime::chooseVariant(bundle, 0), &tables[0]);
  EXPECT_EQ(from(), RNN_OK) << errorText();
}

TEST_F(BundleTest, TellsWhatItWasBuiltFor) {
  try {
    runtime::chooseVariant(bundle, 1);
    FAIL();
  } catch (const runtime::Error& error) {
    EXPECT_EQ(error.status(), RNN_UNSUPPORTED);
    EXPECT_STREQ(error.what(),
                 "module ParaLSTM: it was built for x86-64-v2, x86-64-v3, x86-64-v4, and this "
                 "processor is x86-64-v1; build it with --arch for what runs here");
  }
}

TEST_F(BundleTest, ChecksEveryMember) {
  const rnn_module_bundle good = bundle;
  struct Bad {
    const char* why;
    void (*spoil)(BundleTest&);
  };
  const Bad bad[] = {
      {"version 9", [](BundleTest& t) { t.bundle.abi_version = 9; }},
      {"size is 8", [](BundleTest& t) { t.bundle.size = 8; }},
      {"lacks a name", [](BundleTest& t) { t.bundle.cell = nullptr; }},
      {"a manifest", [](BundleTest& t) { t.bundle.manifest = nullptr; }},
      {"or a variant", [](BundleTest& t) { t.bundle.variants = 0; }},
      {"or a variant", [](BundleTest& t) { t.bundle.variant = nullptr; }},
      {"variant 1 of ParaLSTM lacks a target or a table",
       [](BundleTest& t) { t.variants[1].table = nullptr; }},
      {"variant 1 of ParaLSTM lacks a target or a table",
       [](BundleTest& t) { t.variants[1] = {nullptr, &t.tables[1]}; }},
  };
  for (const Bad& one : bad) {
    bundle = good;
    one.spoil(*this);
    EXPECT_EQ(from(), RNN_INVALID_ARGUMENT);
    EXPECT_EQ(errorText().find("rnn_module_from_bundle: argument `bundle`"), 0u) << errorText();
    EXPECT_NE(errorText().find(one.why), std::string::npos) << errorText();
  }
  rnn_module* made = nullptr;
  EXPECT_EQ(rnn_module_from_bundle(context.get(), nullptr, &made), RNN_INVALID_ARGUMENT);
  EXPECT_EQ(errorText(), "rnn_module_from_bundle: argument `bundle` is null");
}

} // namespace
