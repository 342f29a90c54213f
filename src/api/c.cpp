// include/cameo/c.h: every function calls one of C++, and turns what it throws into a status and findings.
#include <optional>

#include "formats/json.h"

#include "api/c_calls.h"
#include "api/edit_json.h"
#include "api/settings_json.h"

namespace cameo {

namespace faces {

namespace {

thread_local std::string last_findings;

std::string lines(const std::vector<Diag>& all) {
  std::string out;
  for (const Diag& d : all) out += d.render_json() + "\n";
  return out;
}

}  // namespace

void no_failure() { last_findings.clear(); }

cameo_status failed(const Error& e) {
  last_findings = lines(e.diags());
  return static_cast<cameo_status>(e.exit_code());
}

char* text_of(std::string_view s) {
  char* out = new char[s.size() + 1];
  std::memcpy(out, s.data(), s.size());
  out[s.size()] = 0;
  return given_out(out);
}

namespace {

void infos(json::Writer& w, std::string_view key, const std::vector<ValueInfo>& values) {
  w.key(key).array();
  for (const ValueInfo& v : values) w.object().key("name").value(v.name).key("type").value(v.type).end();
  w.end();
}

void names(json::Writer& w, std::string_view key, const std::vector<Value>& values) {
  w.key(key).array();
  for (const Value& v : values) w.value(v.present() ? v.name() : "");
  w.end();
}

std::string described(const Model& m) {
  json::Writer w;
  w.object().key("archive").value(m.is_archive());
  infos(w, "inputs", m.inputs());
  infos(w, "outputs", m.outputs());
  if (!m.is_archive()) {
    w.key("opsets").object();
    for (const auto& [domain, version] : m.opsets()) w.key(domain.empty() ? "ai.onnx" : domain).value(int64_t{version});
    w.end().key("producer").value(m.producer()).key("metadata").object();
    for (const auto& [k, v] : m.metadata()) w.key(k).value(v);
    w.end().key("nodes").array();
    for (const Node& n : m.nodes()) {
      w.object().key("name").value(n.name()).key("op").value(n.op()).key("domain").value(n.domain());
      names(w, "inputs", n.inputs());
      names(w, "outputs", n.outputs());
      w.end();
    }
    w.end();
    std::vector<ValueInfo> weights;
    for (const Value& v : m.graph().weights()) weights.push_back({v.name(), v.type()});
    infos(w, "weights", weights);
  }
  return std::string(w.end().text());
}

ArrayView view_of(const cameo_array& a, size_t place) {
  if (!a.dtype || (a.rank && !a.shape)) throw error("use.null", cat("input ", place, " has no dtype or no shape"));
  ArrayView v(a.dtype, std::vector<int64_t>(a.shape, a.shape + a.rank), a.data);
  if (v.byte_size() != a.size)
    throw error("use.array", cat("input ", place, " has ", a.size, " bytes, and its shape takes ", v.byte_size()));
  return v;
}

std::vector<std::pair<std::string, ArrayView>> named_inputs(const Session& s, const cameo_array* inputs, size_t count) {
  const auto params = s.inputs();
  if (count > params.size())
    throw error("run.input-count", cat(count, " inputs were given, and the model has ", params.size()));
  std::vector<std::pair<std::string, ArrayView>> out;
  for (size_t i = 0; i < count; ++i)
    out.emplace_back(inputs[i].name ? inputs[i].name : params[i].name, view_of(inputs[i], i));
  return out;
}

void take_output(const cameo_output& o, RunSettings& how) {
  const std::string name = &need(o.name, "the name of an output");
  if (o.size && !o.data) throw error("use.null", cat("the memory for the output '", name, "' is a null pointer"));
  if (!how.into.try_emplace(name, o.data, o.size).second)
    throw error("use.output-name", cat("the output '", name, "' is given twice"));
}

std::vector<std::string> texts(const char* const* list, size_t count) {
  std::vector<std::string> out;
  for (size_t i = 0; i < count; ++i) out.emplace_back(&need(list ? list[i] : nullptr, "a name"));
  return out;
}

}  // namespace

}  // namespace faces

}  // namespace cameo

using namespace cameo;
using namespace cameo::faces;

int cameo_c_version(void) { return CAMEO_C_VERSION; }
const char* cameo_version(void) {
  static const std::string text(version);
  return text.c_str();
}
const char* cameo_last_findings(void) { return last_findings.c_str(); }
void cameo_release_model(cameo_model* model) { release(model); }
void cameo_release_session(cameo_session* session) { release(session); }
void cameo_release_results(cameo_results* results) { release(results); }
void cameo_release_text(char* text) { release(text); }

cameo_status cameo_load(const char* path, cameo_model** out) {
  return make(out, [&] { return load(&need(path, "the path")); });
}
cameo_status cameo_load_bytes(const void* data, size_t size, cameo_model** out) {
  return make(out, [&] {
    if (!data && size) throw error("use.null", "the data are a null pointer");
    return load_bytes(data, size);
  });
}
cameo_status cameo_save(const cameo_model* model, const char* path, const char* settings_json) {
  return guarded([&] {
    need(model, "the model").model.save(&need(path, "the path"), faces::save_settings(settings(settings_json)));
  });
}
cameo_status cameo_save_checked(const cameo_model* model, const char* path, const char* settings_json,
                                char** json_lines) {
  return guarded([&] {
    if (json_lines) *json_lines = nullptr;
    const auto notes = save_checked(need(model, "the model").model, &need(path, "the path"),
                                    faces::save_settings(settings(settings_json)));
    if (json_lines) *json_lines = text_of(lines(notes));
  });
}
cameo_status cameo_bytes(const cameo_model* model, const char* settings_json, char** out, size_t* size) {
  return guarded([&] {
    char*& target = place(out);
    size_t& count = place(size);
    const std::string bytes = need(model, "the model").model.bytes(faces::save_settings(settings(settings_json)));
    target = text_of(bytes);
    count = bytes.size();
  });
}
cameo_status cameo_describe(const cameo_model* model, char** json) {
  return give_text(json, [&] { return described(need(model, "the model").model); });
}
cameo_status cameo_text(const cameo_model* model, char** text) {
  return give_text(text, [&] { return need(model, "the model").model.text(); });
}
cameo_status cameo_findings(const cameo_model* model, char** json_lines) {
  return give_text(json_lines, [&] { return lines(need(model, "the model").model.findings()); });
}
cameo_status cameo_stats(const cameo_model* model, char** json) {
  return give_text(json, [&] { return to_json(stats(need(model, "the model").model)); });
}
cameo_status cameo_weight(const cameo_model* model, const char* name, char** bytes, size_t* size) {
  return guarded([&] {
    char*& target = place(bytes);
    size_t& count = place(size);
    const auto value = need(model, "the model").model.graph().find(&need(name, "the name"));
    const auto weight = value ? value->weight() : std::nullopt;
    if (!weight) throw error("edit.no-value", cat("the model has no weight '", name, "'"));
    const Array a = weight->array();
    target = text_of({reinterpret_cast<const char*>(a.bytes.data()), a.bytes.size()});
    count = a.bytes.size();
  });
}

cameo_status cameo_export(const cameo_model* archive, const char* settings_json, cameo_model** out) {
  return make(out, [&] {
    return export_model(need(archive, "the archive").model, faces::export_settings(settings(settings_json))).model;
  });
}
cameo_status cameo_simplify(const cameo_model* model, const char* settings_json, cameo_model** out, char** report) {
  return make_reported(out, report, [&] {
    SimplifySettings how = faces::simplify_settings(settings(settings_json));
    return simplify(need(model, "the model").model, how);
  });
}
cameo_status cameo_infer(const cameo_model* model, const char* settings_json, cameo_model** out) {
  return make(out,
              [&] { return infer(need(model, "the model").model, faces::infer_settings(settings(settings_json))); });
}
cameo_status cameo_check(const cameo_model* model, const char* settings_json, char** json_lines) {
  return give_text(json_lines, [&] {
    const CheckSettings how = faces::check_settings(settings(settings_json));
    return lines(check(need(model, "the model").model, how));
  });
}
cameo_status cameo_lint(const cameo_model* model, const char* settings_json, char** report) {
  return give_text(report, [&] {
    return to_json(lint(need(model, "the model").model, faces::lint_settings(settings(settings_json))));
  });
}
cameo_status cameo_fix_lint(const cameo_model* model, const char* settings_json, cameo_model** out, char** report) {
  return make_reported(out, report, [&] {
    return fix_lint(need(model, "the model").model, faces::lint_fix_settings(settings(settings_json)));
  });
}
cameo_status cameo_prepare(const cameo_model* model, const char* settings_json, cameo_model** out, char** report) {
  return make_reported(out, report, [&] {
    PrepareSettings how = faces::prepare_settings(settings(settings_json));
    return prepare(need(model, "the model").model, how);
  });
}
cameo_status cameo_convert(const cameo_model* model, int opset, const char* settings_json, cameo_model** out,
                           char** report) {
  return make_reported(out, report, [&] {
    ConvertSettings how = faces::convert_settings(settings(settings_json));
    if (opset) how.opset = opset;
    Converted c = convert(need(model, "the model").model, how);
    return Reported<HalfReport>{std::move(c.model), std::move(c.half)};
  });
}
cameo_status cameo_extract(const cameo_model* model, const char* const* from, size_t from_count, const char* const* to,
                           size_t to_count, cameo_model** out) {
  return make(out,
              [&] { return extract(need(model, "the model").model, texts(from, from_count), texts(to, to_count)); });
}
cameo_status cameo_edit(const cameo_model* model, const char* changes_json, cameo_model** out) {
  return make(
      out, [&] { return faces::edited(need(model, "the model").model, &need(changes_json, "the list of changes")); });
}
cameo_status cameo_merge(const cameo_model* first, const cameo_model* second, const char* settings_json,
                         cameo_model** out) {
  return make(out, [&] {
    return merge(need(first, "the first model").model, need(second, "the second model").model,
                 faces::merge_settings(settings(settings_json)));
  });
}
cameo_status cameo_diff(const cameo_model* first, const cameo_model* second, char** json) {
  return give_text(json, [&] {
    return to_json(diff(need(first, "the first model").model, need(second, "the second model").model));
  });
}
cameo_status cameo_explain(const cameo_model* model, const char* rule, int opset, char** json) {
  return give_text(json, [&] { return to_json(explain(need(model, "the model").model, rule ? rule : "", opset)); });
}
cameo_status cameo_rules(char** json) {
  return give_text(json, [] { return to_json(rules()); });
}
cameo_status cameo_operators(const char* query_json, char** json) {
  return give_text(
      json, [&] { return to_json(query_json ? find_operators(faces::operator_query(query_json)) : operators()); });
}
cameo_status cameo_verify(const cameo_model* model, const cameo_model* reference, const char* settings_json,
                          char** report) {
  return cameo_verify_with(model, reference, settings_json, nullptr, 0, report);
}

cameo_status cameo_open_session(const cameo_model* model, const char* settings_json, cameo_session** out) {
  return cameo_open_session_with(model, settings_json, nullptr, 0, out);
}
cameo_status cameo_run(const cameo_session* session, const cameo_array* inputs, size_t count, cameo_results** out) {
  return cameo_run_into(session, inputs, count, nullptr, 0, nullptr, out);
}
cameo_status cameo_run_into(const cameo_session* session, const cameo_array* inputs, size_t count,
                            const cameo_output* outputs, size_t output_count, char** profile, cameo_results** out) {
  return guarded([&] {
    if (profile) *profile = nullptr;
    cameo_results*& target = place(out);
    const Session& s = need(session, "the session").session;
    if (count) need(inputs, "the list of inputs");
    if (output_count) need(outputs, "the list of outputs");
    std::vector<Step> steps;
    RunSettings how;
    if (profile) how.profile = &steps;
    for (size_t i = 0; i < output_count; ++i) take_output(outputs[i], how);
    auto results = std::make_unique<cameo_results>();
    results->arrays = s.run_named(named_inputs(s, inputs, count), how);
    results->names = s.result_names();
    std::string told = profile ? chrome_trace(steps) : "";
    target = given_out(results.release());
    if (profile) *profile = text_of(told);
  });
}
size_t cameo_result_count(const cameo_results* results) {
  return is_there(results, kind_of<cameo_results>) ? results->arrays.size() : 0;
}
cameo_status cameo_result(const cameo_results* results, size_t i, cameo_array* out) {
  return guarded([&] {
    cameo_array& target = place(out);
    const auto& all = need(results, "the results");
    if (i >= all.arrays.size())
      throw error("use.index", cat("there is no result ", i, ": there are ", all.arrays.size()));
    const Array& a = all.arrays[i];
    target = {all.names[i].c_str(), a.dtype.c_str(), a.shape.data(), a.shape.size(), a.bytes.data(), a.bytes.size()};
  });
}
