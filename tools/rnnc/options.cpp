// The command line by CLI11. The only file of the tool that is built with exceptions: CLI11 reports
// errors with them, and none leaves parseOptions.
#include "options.h"

#include "values.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cmath>

using namespace rnnc::tool;

namespace {

const char* const kAfter =
    "Exit status: 0 fine, 1 the file, the data or a failed check, 2 usage, 3 a missing "
    "device or library, 70 a bug of rnnc.";

constexpr int64_t kMostOrdinal = 1 << 20; // of a CUDA device: the driver knows better

/// One verb's options, added in groups by concern.
class Verbs {
public:
  Verbs(CLI::App& app, Options& options) : app(app), o(options) {}
  void addAll();

private:
  CLI::App& verb(Verb which, const char* what);
  void addFile(CLI::App& app, const char* what);
  void addCell(CLI::App& app);
  void addTypes(CLI::App& app);
  void addChunks(CLI::App& app);
  void addSchedule(CLI::App& app);
  void addShape(CLI::App& app);
  void addDrawn(CLI::App& app);
  void addData(CLI::App& app);
  void addDevice(CLI::App& app);
  void addThreads(CLI::App& app);
  void addRun(CLI::App& app);
  void addBuild(CLI::App& app);
  void addBench(CLI::App& app);
  void addPlan(CLI::App& app);
  void addTalk(CLI::App& app);

  /// An option that takes one value a time and may be repeated.
  template <typename Add>
  void pairs(CLI::App& app, const char* name, Add add, const char* what,
             const char* type = "NAME=VALUE");
  void list(CLI::App& app, const char* name, std::vector<std::string>& to, const char* what,
            const char* type);
  /// An option of one value that `parse` turns into `to`.
  template <typename T, typename Parse>
  void value(CLI::App& app, const char* name, T& to, Parse parse, const char* expected,
             const char* what, const char* type);
  template <typename T, typename E>
  void choice(CLI::App& app, const char* name, T& to,
              std::initializer_list<std::pair<const char*, E>> values, const char* what);

  CLI::App& app;
  Options& o;
};

template <typename Add>
void Verbs::pairs(CLI::App& app, const char* name, Add add, const char* what, const char* type) {
  auto each = [add, name](const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
      if (std::string error = add(text); !error.empty())
        throw CLI::ValidationError(name, error);
  };
  app.add_option_function<std::vector<std::string>>(name, each, what)
      ->type_name(type)
      ->allow_extra_args(false)
      ->take_all();
}

void Verbs::list(CLI::App& app, const char* name, std::vector<std::string>& to, const char* what,
                 const char* type) {
  auto add = [&to](const std::string& text) {
    to.push_back(text);
    return std::string();
  };
  pairs(app, name, add, what, type);
}

template <typename T, typename Parse>
void Verbs::value(CLI::App& app, const char* name, T& to, Parse parse, const char* expected,
                  const char* what, const char* type) {
  auto set = [&to, parse, expected, name](const std::string& text) {
    auto parsed = parse(text);
    if (!parsed)
      throw CLI::ValidationError(name, fmt::format("'{}' is not {}", text, expected));
    to = *parsed;
  };
  app.add_option_function<std::string>(name, set, what)->type_name(type);
}

template <typename T, typename E>
void Verbs::choice(CLI::App& app, const char* name, T& to,
                   std::initializer_list<std::pair<const char*, E>> values, const char* what) {
  std::vector<std::pair<std::string, E>> list(values.begin(), values.end());
  std::string names;
  for (auto& [text, choice] : list)
    names += (names.empty() ? "" : "|") + text;
  auto set = [&to, list, names, name](const std::string& text) {
    for (auto& [candidate, choice] : list)
      if (candidate == text) {
        to = choice;
        return;
      }
    throw CLI::ValidationError(name, fmt::format("'{}' is not one of {}", text, names));
  };
  app.add_option_function<std::string>(name, set, what)->type_name(names);
}

std::optional<int64_t> atLeastOne(const std::string& text) {
  auto n = parseInteger(text);
  return n && *n >= 1 ? n : std::nullopt;
}

std::optional<int64_t> atLeastZero(const std::string& text) {
  auto n = parseInteger(text);
  return n && *n >= 0 ? n : std::nullopt;
}

std::optional<int32_t> threadCount(const std::string& text) {
  auto n = parseInteger(text);
  return n && *n >= 1 && *n <= 4096 ? std::optional<int32_t>(*n) : std::nullopt;
}

std::optional<double> finiteAtLeastZero(const std::string& text) {
  auto x = parseNumber(text);
  return x && *x >= 0 && std::isfinite(*x) ? x : std::nullopt;
}

CLI::App& Verbs::verb(Verb which, const char* what) {
  CLI::App* sub = app.add_subcommand(verbName(which), what);
  sub->callback([this, which] { o.verb = which; });
  sub->footer(kAfter);
  return *sub;
}

void Verbs::addFile(CLI::App& app, const char* what) {
  app.add_option("FILE", o.file, what)->required()->type_name("");
}

void Verbs::addCell(CLI::App& app) {
  app.add_option("--cell", o.cell, "Which cell, where the file has several")->type_name("NAME");
  pairs(
      app, "--dim", [this](const std::string& s) { return addSize(s, o.dims); },
      "A size, such as d=256; repeatable");
  pairs(
      app, "--const", [this](const std::string& s) { return addNumber(s, o.constants); },
      "Another value for a const of the file; repeatable");
  pairs(
      app, "--limit", [this](const std::string& s) { return addSize(s, o.limits); },
      "Raise an input limit: nesting, source or operations; repeatable");
  app.add_option("--root", o.root, "The folder that no import leaves (the file's)")
      ->type_name("DIR");
}

void Verbs::addTypes(CLI::App& app) {
  choice<std::optional<Storage>, Storage>(app, "--dtype", o.dtype,
                                          {{"f32", Storage::F32},
                                           {"f64", Storage::F64},
                                           {"bf16", Storage::BF16},
                                           {"f16", Storage::F16}},
                                          "What arrays are stored in (f32)");
  choice<std::optional<rnn_dtype>, rnn_dtype>(
      app, "--compute", o.compute, {{"f32", RNN_F32}, {"f64", RNN_F64}},
      "What steps are computed in (f64 for f64 storage, else f32)");
}

void Verbs::addChunks(CLI::App& app) {
  choice<rnn_schedule, rnn_schedule>(app, "--schedule", o.schedule,
                                     {{"auto", RNN_SCHEDULE_AUTO},
                                      {"sequential", RNN_SCHEDULE_SEQUENTIAL},
                                      {"parallel", RNN_SCHEDULE_PARALLEL}},
                                     "How time is walked (auto: by the cost model)");
  value(app, "--chunk", o.chunk, atLeastOne, "a number of steps, 1 or more", "Steps a chunk", "C");
  value(app, "--chunks", o.chunks, atLeastOne, "a number of chunks, 1 or more", "Chunks a tile",
        "W");
}

void Verbs::addSchedule(CLI::App& app) {
  addChunks(app);
  choice<rnn_vector, rnn_vector>(
      app, "--vector", o.vector,
      {{"auto", RNN_VECTOR_AUTO}, {"lanes", RNN_VECTOR_LANES}, {"chunks", RNN_VECTOR_CHUNKS}},
      "What fills a vector: lanes, or the chunks of one lane");
  choice<rnn_tiles, rnn_tiles>(app, "--tiles", o.tiles,
                               {{"auto", RNN_TILES_AUTO},
                                {"sequence", RNN_TILES_SEQUENCE},
                                {"parallel", RNN_TILES_PARALLEL}},
                               "Tiles one after the other, or all at once");
  value(app, "--tolerance", o.tolerance, finiteAtLeastZero, "a finite number, 0 or more",
        "When a tile is solved; 0: bit for bit (default 4 ulp)", "X");
  value(app, "--max-sweeps", o.maxSweeps, atLeastOne, "a number of sweeps, 1 or more",
        "Give up after N sweeps; only with a tolerance above 0", "N");
}

void Verbs::addShape(CLI::App& app) {
  value(app, "--batch", o.batch, atLeastZero, "a batch size, 0 or more",
        "Batch elements, where no input says so (8)", "B");
  value(app, "--time", o.time, atLeastZero, "a number of steps, 0 or more",
        "Time steps, where no input says so (4096)", "T");
}

void Verbs::addDrawn(CLI::App& app) {
  pairs(
      app, "--param", [this](const std::string& s) { return addNumber(s, o.params); },
      "One value for all of a param; repeatable");
  value(app, "--seed", o.seed, parseUnsigned, "a whole number, 0 or more", "Of what is drawn (0)",
        "N");
}

void Verbs::addData(CLI::App& app) {
  list(app, "--input", o.inputs,
       "Arrays: .npz, .safetensors, .npy, .wav or .flac; inputs, params and initial states by "
       "name, or NAME=F; "
       "repeatable",
       "F");
  list(app, "--random", o.randoms, "Draw an array, such as x:normal(0,0.3); repeatable", "SPEC");
  addDrawn(app);
}

void Verbs::addTalk(CLI::App& app) {
  app.add_flag("--json", o.json, "The report as JSON on stdout, nothing else there");
  app.add_flag("-v,--verbose", o.verbose, "Say more, on stderr");
  choice<Color, Color>(app, "--color", o.color,
                       {{"auto", Color::Auto}, {"always", Color::Always}, {"never", Color::Never}},
                       "Colours in messages");
  choice<ErrorFormat, ErrorFormat>(app, "--error-format", o.errorFormat,
                                   {{"text", ErrorFormat::Text}, {"json", ErrorFormat::Json}},
                                   "json: one object a line");
}

void Verbs::addDevice(CLI::App& app) {
  auto set = [this](const std::string& text) {
    const std::string name = text.substr(0, text.find(':'));
    std::optional<int64_t> ordinal = 0;
    if (name.size() < text.size())
      ordinal = name == "cuda" ? atLeastZero(text.substr(name.size() + 1)) : std::nullopt;
    static const std::map<std::string, Device> devices = {{"auto", Device::Auto},
                                                          {"cpu", Device::Cpu},
                                                          {"cuda", Device::Cuda},
                                                          {"interpreter", Device::Interpreter}};
    const auto device = devices.find(name);
    if (!ordinal || *ordinal > kMostOrdinal || device == devices.end())
      throw CLI::ValidationError(
          "--device", fmt::format("'{}' is not one of auto|cpu|cuda|cuda:N|interpreter", text));
    o.device = device->second;
    o.ordinal = static_cast<int32_t>(*ordinal);
  };
  app.add_option_function<std::string>(
         "--device", set,
         "Where to run (auto: the CPU); cuda:N is the device of that number; interpreter: in "
         "float64, step by step, what every device is compared with")
      ->type_name("auto|cpu|cuda|cuda:N|interpreter");
}

void Verbs::addRun(CLI::App& app) {
  list(app, "--output", o.outputs,
       "States and outputs: .npz or .safetensors (all), .npy or .wav (one; NAME=F says which); "
       "repeatable",
       "F");
  app.add_option("--report", o.report, "Write the report as JSON")->type_name("F");
  app.add_flag("--verify", o.verify, "Run sequentially too, and print the largest difference");
}

void Verbs::addBuild(CLI::App& app) {
  app.add_option("-o", o.output,
                 "Where to write; the suffix says what: .so or .o to load or link, with .h; .ll .s "
                 ".mlir .cu .ptx .cubin")
      ->type_name("F");
  app.add_option("--emit", o.emit,
                 "Print a stage: ast, rnn, newton, llvm, asm, cuda, ptx, cubin or header")
      ->type_name("STAGE");
  app.add_option("--target", o.target, "cpu or cuda (what the stage is of)")->type_name("NAME");
  app.add_option(
         "--arch", o.arch,
         "x86-64-v2, x86-64-v3 or x86-64-v4 (this machine's); sm_80, sm_90, ... (sm_90); of "
         ".so and .o a list (all of the first; sm_80,sm_90,sm_100,sm_120)")
      ->type_name("NAME");
  app.add_flag(
      "--gradients", o.gradients,
      "With the cell of the gradients, for rnn_backward; of .so and .o, and --emit newton");
  choice<MathKind, MathKind>(
      app, "--math", o.math, {{"polynomial", MathKind::Polynomial}, {"special", MathKind::Special}},
      "cuda: functions by polynomials, or by the special-function unit (f32)");
  choice<Staging, Staging>(app, "--staging", o.staging,
                           {{"auto", Staging::Auto}, {"registers", Staging::Registers}},
                           "cuda: a tile's inputs in shared memory (auto) or in registers");
  app.add_option("--dump-dir", o.dumpDir, "Write every stage into this folder")->type_name("D");
}

void Verbs::addBench(CLI::App& app) {
  value(app, "--repeat", o.repeat, atLeastOne, "a number of calls, 1 or more",
        "Calls of each schedule (what --seconds allows)", "N");
  app.add_flag("--gradients", o.gradients,
               "Forward and backward, at every level of training that a budget might choose");
  value(app, "--checkpoint", o.checkpoint, atLeastOne, "a number of steps, 1 or more",
        "With --gradients: the states of every K steps (L2) against all states (L1)", "K");
  value(app, "--segments", o.segments, atLeastOne, "a number of sequences, 1 or more",
        "The batch's steps as a packed batch of N uneven sequences, against the dense batch", "N");
  value(app, "--seconds", o.seconds, finiteAtLeastZero, "a number of seconds",
        "How long to measure (2)", "S");
}

void Verbs::addPlan(CLI::App& app) {
  value(app, "--layers", o.layers, atLeastOne, "a number of layers, 1 or more",
        "Layers of the cell, one on top of the other (1)", "N");
  value(app, "--memory-budget", o.memoryBudget, parseSize, "a size, such as 512MiB",
        "The most that reserve and workspace may take together; what is kept is chosen for it",
        "SIZE");
  value(app, "--seconds", o.recording, finiteAtLeastZero, "a number of seconds",
        "Time as the codes of a recording: seconds x frame rate x codebooks", "S");
  value(app, "--frame-rate", o.frameRate, finiteAtLeastZero, "a number of frames a second",
        "Frames a second of --seconds", "R");
  value(app, "--codebooks", o.codebooks, atLeastOne, "a number of codes a frame, 1 or more",
        "Codes a frame of --seconds (1)", "C");
  choice<Optimizer, Optimizer>(app, "--optimizer", o.optimizer,
                               {{"adam", Optimizer::Adam}, {"sgd", Optimizer::Sgd}},
                               "What updates the parameters (adam)");
  choice<Precision, Precision>(app, "--precision", o.precision,
                               {{"f32", Precision::F32}, {"mixed", Precision::Mixed}},
                               "Of parameters and gradients; mixed: 16 bits, and master weights");
  value(app, "--ranks", o.ranks, atLeastOne, "a number of ranks, 1 or more",
        "Ranks that share a step's batches (1); with more the stages of ZeRO are compared", "N");
  app.add_option("--plot", o.plot, "Write bytes against time of every choice, as SVG")
      ->type_name("F");
}

void Verbs::addThreads(CLI::App& app) {
  value(app, "--threads", o.threads, threadCount, "a number of threads, 1 to 4096",
        "Threads to run on (all); never changes an answer", "N");
}

void Verbs::addAll() {
  CLI::App& run = verb(Verb::Run, "Compile for this machine and run on data");
  CLI::App& build = verb(Verb::Build, "Print a stage of the compilation, or write it to a file");
  CLI::App& check = verb(Verb::Check, "Prove the derivatives and schedules of a cell");
  CLI::App& explain = verb(
      Verb::Explain, "Jacobian, structure, cost and schedule; or the long text of an error code");
  CLI::App& bench = verb(Verb::Bench, "Measure parallel against sequential");
  CLI::App& plan = verb(Verb::Plan, "Bytes and time of a training step, before there is one");
  CLI::App& doctor = verb(Verb::Doctor, "What this machine has and lacks");
  for (CLI::App* app : {&run, &build, &check, &bench, &plan})
    addFile(*app, "The .rnn file");
  addFile(explain, "The .rnn file, or a code such as RNN0102");
  for (CLI::App* app : {&run, &build, &check, &explain, &bench, &plan})
    addCell(*app);
  for (CLI::App* app : {&run, &build, &explain, &bench, &plan}) // check looks at both types
    addTypes(*app);
  for (CLI::App* app : {&run, &check, &explain, &bench})
    addDevice(*app);
  for (CLI::App* app : {&run, &explain, &bench, &plan})
    addSchedule(*app), addShape(*app);
  addChunks(build);
  for (CLI::App* app : {&run, &check, &bench})
    addThreads(*app);
  for (CLI::App* app : {&run, &bench})
    addData(*app);
  addDrawn(check);
  check.add_flag("--quick", o.quick,
                 "Fewer shapes, and sequences of up to 257 steps instead of 4097");
  addRun(run);
  addBuild(build);
  addBench(bench);
  addPlan(plan);
  for (CLI::App* app : {&run, &build, &check, &explain, &bench, &plan, &doctor})
    addTalk(*app);
}

/// Options that exclude each other. Returns what is wrong, empty where nothing is.
std::string conflict(const Options& o) {
  for (auto& [name, value] : o.limits)
    if (name != "nesting" && name != "source" && name != "operations")
      return "--limit: there is no limit '" + name + "'; nesting, source or operations";
  if (o.maxSweeps && o.tolerance == 0)
    return "--max-sweeps needs a tolerance above 0: at 0 the sweeps end when every bit agrees";
  if (o.schedule == RNN_SCHEDULE_SEQUENTIAL && (o.chunk || o.chunks || o.maxSweeps))
    return "--chunk, --chunks and --max-sweeps belong to the parallel schedule";
  if (o.checkpoint && !o.gradients)
    return "--checkpoint belongs to --gradients";
  if ((o.frameRate || o.codebooks) && !o.recording)
    return "--frame-rate and --codebooks belong to --seconds";
  if (o.recording && (o.time || !o.frameRate))
    return o.time ? "--seconds says what --time says; give one of them"
                  : "--seconds needs --frame-rate: how many frames a second has";
  if (o.verb == Verb::Build && !o.emit.empty() && !o.output.empty())
    return "--emit prints to stdout, -o writes by the suffix; choose one";
  if (o.verb == Verb::Build && o.emit.empty() && o.output.empty() && o.dumpDir.empty())
    return "nothing to build: give -o F, --emit STAGE or --dump-dir D";
  return "";
}

/// Whether errors are wanted as JSON, although the command line could not be read.
bool wantsJsonErrors(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view arg = argv[i];
    if (arg == "--error-format=json" ||
        (arg == "--error-format" && i + 1 < argc && std::string_view(argv[i + 1]) == "json"))
      return true;
  }
  return false;
}

ParsedOptions usageError(std::string text, const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  ParsedOptions parsed;
  parsed.exitCode = kUsage;
  parsed.error = std::move(text);
  parsed.hint = verbs.empty() ? "see rnnc --help" : "see rnnc " + verbs[0]->get_name() + " --help";
  return parsed;
}

/// What the user got wrong, in one line; CLI11's own words name its classes.
std::string describe(const CLI::ParseError& error, const CLI::App& app, std::string_view first) {
  if (app.get_subcommands().empty() && !first.empty() && !first.starts_with('-'))
    return "unknown command '" + std::string(first) +
           "': run, build, check, explain, bench, plan or doctor";
  const auto rest = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) && !rest.empty())
    return (rest[0].starts_with('-') ? "unknown option '" : "unexpected argument '") + rest[0] +
           "'";
  if (dynamic_cast<const CLI::RequiredError*>(&error) && app.get_subcommands().empty())
    return "a command is missing: run, build, check, explain, bench, plan or doctor";
  return error.what();
}

} // namespace

const char* rnnc::tool::verbName(Verb verb) {
  const char* const names[] = {"run", "build", "check", "explain", "bench", "plan", "doctor"};
  return names[static_cast<int>(verb)];
}

ParsedOptions rnnc::tool::parseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app("rnnc: a compiler for recurrences", "rnnc");
  app.require_subcommand(1);
  app.set_version_flag("--version", "rnnc " RNNC_VERSION);
  app.footer(kAfter);
  ParsedOptions parsed;
  for (int i = 0; i < argc; ++i)
    options.commandLine += (i ? " " : "") + std::string(argv[i]);
  Verbs verbs(app, options); // the callbacks that it adds refer to it
  try {
    verbs.addAll();
    app.parse(argc, argv);
    std::string wrong = conflict(options);
    if (options.recording && wrong.empty())
      options.time = std::llround(*options.recording * *options.frameRate *
                                  static_cast<double>(options.codebooks.value_or(1)));
    if (wrong.empty())
      parsed.options = options;
    else
      parsed = usageError(wrong, app);
  } catch (const CLI::Success& help) {
    parsed.exitCode = app.exit(help);
  } catch (const CLI::ParseError& error) {
    parsed = usageError(describe(error, app, argc > 1 ? argv[1] : ""), app);
  }
  if (wantsJsonErrors(argc, argv))
    parsed.errorFormat = ErrorFormat::Json;
  return parsed;
}
