// include/cameo/session.h.
#include <algorithm>
#include <cstring>
#include <set>

#include "backends/onnx/writer.h"
#include "engine/profile.h"
#include "engine/session.h"
#include "formats/mapped_file.h"
#include "runtime/arrays.h"
#include "runtime/inputs.h"
#include "runtime/watch.h"
#include "support/extension.h"

#include "api/kernels.h"
#include "api/publication_state.h"
#include "api/state.h"
#include "cameo/session.h"

namespace cameo {

struct Session::State {
  engine::Session session;
  std::vector<std::string> names;  // of what a run gives
};

namespace {

engine::SessionOptions options_of(const ir::Graph& g, const SessionSettings& settings) {
  engine::SessionOptions o;
  o.threads = known_threads(settings.threads);
  o.fast = !settings.reference;
  o.seed = settings.seed;
  o.kernels = api::custom_ops(settings.kernels);
  if (!settings.keep_outputs.empty()) o.keep = runtime::matching_values(g, settings.keep_outputs);
  return o;
}

using Memory = std::pair<void*, size_t>;

void need_size(const std::string& name, uint64_t bytes, Memory memory) {
  if (memory.second && !memory.first) throw error("use.array", cat("the memory for the output '", name, "' is null"));
  if (bytes != memory.second)
    throw error("run.size",
                cat("the output '", name, "' has ", bytes, " bytes, and there is memory for ", memory.second));
}

void put_into(const ir::Tensor& t, const std::string& name, Memory memory) {
  const auto bytes = t.bytes().span();
  need_size(name, bytes.size(), memory);
  if (!bytes.empty() && bytes.data() != memory.first) std::memmove(memory.first, bytes.data(), bytes.size());
}

bool overlap(Memory a, const void* b, uint64_t size) {
  const auto from = reinterpret_cast<uintptr_t>(a.first), other = reinterpret_cast<uintptr_t>(b);
  return from < other + size && other < from + a.second;
}

// Whether kernels may write there while they run.
bool may_be_lent(const std::string& name, Memory memory, const std::vector<kernels::Datum>& inputs,
                 const RunSettings& settings) {
  if (reinterpret_cast<uintptr_t>(memory.first) % 8 != 0) return false;
  for (const kernels::Datum& d : inputs)
    if (d.kind == kernels::Datum::Kind::tensor && d.tensor.dtype() != ir::DType::string &&
        overlap(memory, d.tensor.bytes().data(), d.tensor.bytes().size()))
      return false;
  for (const auto& [other, place] : settings.into)
    if (other != name && overlap(memory, place.first, place.second)) return false;
  return true;
}

Error too_many(size_t given, size_t inputs) {
  return error("run.input-count", cat(given, " inputs were given, and the model has ", inputs));
}

std::vector<kernels::Datum> timed_run(const engine::Session& session, const std::vector<kernels::Datum>& in,
                                      std::vector<Step>* profile, const engine::OutputMemory& lent = {}) {
  std::vector<engine::StepTime> times;
  auto results = session.run(in, profile ? &times : nullptr, lent);
  formats::require_whole_files();
  for (const engine::StepTime& t : times) profile->push_back({t.node, t.op, t.kernel, t.start_us, t.length_us});
  return results;
}

size_t input_place(const ir::Graph& g, const std::string& name) {
  const auto& params = g[g.main()].inputs;
  const auto it = std::find_if(params.begin(), params.end(), [&](support::ValueId v) { return g[v].name == name; });
  if (it != params.end()) return static_cast<size_t>(it - params.begin());
  std::string all;
  for (const auto v : params) all += cat(all.empty() ? "" : ", ", g[v].name);
  throw error("use.input-name", cat("the model has no input '", name, "'")).help(cat("its inputs are: ", all));
}

}  // namespace

Session::Session(Model model, const SessionSettings& settings) {
  ir::Model m = ModelState::changed(std::move(model)).model;
  const auto options = options_of(m.graph, settings);
  std::vector<std::string> names;
  for (const auto v : m.graph[m.graph.main()].outputs) names.push_back(m.graph[v].name);
  for (const auto v : options.keep) names.push_back(m.graph[v].name);
  state_ = std::make_unique<State>(State{engine::Session(std::move(m), options), std::move(names)});
}
Session::Session(const std::string& path, const SessionSettings& settings) : Session(load(path), settings) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const Session::State& Session::state() const {
  if (!state_) throw error("use.moved-from", "the session was moved from");
  return *state_;
}

std::vector<ValueInfo> Session::inputs() const {
  const ir::Graph& g = state().session.graph();
  return infos_of(g, g[g.main()].inputs);
}

std::vector<ValueInfo> Session::outputs() const {
  const ir::Graph& g = state().session.graph();
  return infos_of(g, g[g.main()].outputs);
}

std::vector<std::string> Session::result_names() const { return state().names; }

std::vector<RunValue> Session::run_values(const std::vector<RunValue>& inputs, std::vector<Step>* profile) const {
  const ir::Graph& g = state().session.graph();
  const auto& params = g[g.main()].inputs;
  if (inputs.size() > params.size()) throw too_many(inputs.size(), params.size());
  std::vector<kernels::Datum> in;
  for (size_t i = 0; i < inputs.size(); ++i) in.push_back(datum_of(inputs[i], g[params[i]].name));
  std::vector<RunValue> out;
  for (const kernels::Datum& d : timed_run(state_->session, in, profile)) out.push_back(run_value_of(d));
  return out;
}

std::vector<Array> Session::run(const std::vector<ArrayView>& inputs, const RunSettings& settings) const {
  const ir::Graph& g = state().session.graph();
  const auto& params = g[g.main()].inputs;
  if (inputs.size() > params.size()) throw too_many(inputs.size(), params.size());
  for (const auto& [name, memory] : settings.into)
    if (std::find(state_->names.begin(), state_->names.end(), name) == state_->names.end())
      throw error("use.output-name", cat("the model has no output '", name, "'"));
  std::vector<kernels::Datum> in;
  for (size_t i = 0; i < inputs.size(); ++i)
    in.emplace_back(inputs[i].dtype.empty() ? kernels::Datum()
                                            : kernels::Datum(tensor_of(inputs[i], g[params[i]].name)));
  std::vector<Array> out(state_->names.size());
  const auto lent = [&](size_t i, uint64_t bytes) -> std::byte* {
    const auto memory = settings.into.find(state_->names[i]);
    if (memory == settings.into.end()) {
      out[i].bytes.resize(static_cast<size_t>(bytes));
      return out[i].bytes.data();
    }
    need_size(memory->first, bytes, memory->second);
    return may_be_lent(memory->first, memory->second, in, settings) ? static_cast<std::byte*>(memory->second.first)
                                                                    : nullptr;
  };
  const auto results = timed_run(state_->session, in, settings.profile, lent);
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string& name = state_->names[i];
    const ir::Tensor& t = numbers_in(results[i], name);
    const auto memory = settings.into.find(name);
    if (memory != settings.into.end()) put_into(t, name, memory->second);
    else if (t.bytes().empty() || t.bytes().data() != out[i].bytes.data()) {
      out[i] = array_of(t, name);
      continue;
    }
    out[i].dtype = std::string(ir::name(t.dtype()));
    out[i].shape = t.shape();
  }
  return out;
}

std::vector<Array> Session::run_named(const std::vector<std::pair<std::string, ArrayView>>& inputs,
                                      const RunSettings& settings) const {
  const ir::Graph& g = state().session.graph();
  std::vector<ArrayView> ordered(g[g.main()].inputs.size());
  for (const auto& [name, view] : inputs) {
    ArrayView& place = ordered[input_place(g, name)];
    if (!place.dtype.empty()) throw error("use.input-name", cat("the input '", name, "' is given twice"));
    if (view.dtype.empty()) throw error("use.array", cat("the array '", name, "' has no dtype"));
    place = view;
  }
  return run(ordered, settings);
}

uint64_t Session::arena_bytes() const { return state().session.memory().arena; }
uint64_t Session::packed_weight_bytes() const { return state().session.memory().weights; }
int Session::threads() const { return state().session.threads(); }

namespace {
std::vector<runtime::NamedDatum> data_of(const std::vector<NamedValue>& values) {
  std::vector<runtime::NamedDatum> out;
  for (const auto& [name, v] : values) out.push_back({name, datum_of(v, name)});
  return out;
}

std::vector<engine::StepTime> times_of(const std::vector<Step>& steps) {
  std::vector<engine::StepTime> out;
  for (const Step& s : steps) out.push_back({s.node, s.op, s.kernel, s.start_us, s.length_us});
  return out;
}
}  // namespace

std::vector<NamedValue> load_inputs(const Model& model, const std::string& path) {
  const ir::Graph& g = ModelState::onnx(model).graph;
  const auto params = runtime::run_inputs(g);
  const auto loaded = runtime::load_values(path, g, params);
  std::vector<NamedValue> out;
  for (size_t i = 0; i < params.size(); ++i)
    if (loaded[i].kind != kernels::Datum::Kind::none) out.emplace_back(g[params[i]].name, run_value_of(loaded[i]));
  return out;
}

std::vector<RunValue> Session::run_values(const std::vector<NamedValue>& inputs, std::vector<Step>* profile) const {
  const ir::Graph& g = state().session.graph();
  std::vector<RunValue> ordered(g[g.main()].inputs.size());
  std::set<std::string_view> given;
  for (const auto& [name, value] : inputs) {
    if (!given.insert(name).second) throw error("use.input-name", cat("the input '", name, "' is given twice"));
    ordered[input_place(g, name)] = value;
  }
  return run_values(ordered, profile);
}

void save_values(const std::string& path, const std::vector<NamedValue>& values) {
  support::need_extension(path, {".npz"});
  runtime::save_npz(path, data_of(values));
}
void save_values(Publication::File& file, const std::vector<NamedValue>& values) {
  runtime::write_npz(PublicationState::file_of(file), data_of(values));
}

std::string chrome_trace(const std::vector<Step>& steps) { return engine::chrome_trace(times_of(steps)); }
std::string profile_table(const std::vector<Step>& steps) { return engine::profile_table(times_of(steps)); }

}  // namespace cameo
