// A call to a desk: its parameters, its reply, and what is on the desk.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "support/error.h"

#include "api/page/tree.h"
#include "cameo/model.h"
#include "cameo/page.h"
#include "cameo/session.h"
#include "cameo/simplify.h"

namespace cameo::page {

using support::cat;
using support::error;

// An open model, and how it came to be.
struct Opened {
  Model model;
  std::string file;         // the name that it was opened by; of a made model that of the first one
  int64_t from = 0;         // the model that it was made of; 0: opened
  std::string verb;         // "open", "simplify", ...
  std::string settings;     // of the verb, as JSON
  std::string command;      // the command line that does the same
  std::string report = {};  // of quantize, as JSON
  bool in_memory = false;   // it was read from bytes, not from a path
  std::vector<Rewriting> ledger = {};
  std::optional<Model> typed = {};  // with inferred types
  std::unique_ptr<const Tree> tree = {};

  const Model& with_types();
  const Tree& drawn();  // throws use.archive
};

// The values of a run, kept for looking at them.
struct Ran {
  int64_t model = 0;
  std::vector<NamedValue> values;  // what went in, then what came out
  size_t inputs = 0;               // how many went in
};

struct Offer {
  uint64_t size = 0;
  ReadAt read = {};
  Buffer bytes = {};                // where there is no `read`
  std::optional<Model> model = {};  // where there is neither
};

struct Desktop {
  DeskSettings settings;
  std::map<std::string, Offer> offers = {};
  std::map<int64_t, Opened> models = {};
  std::map<int64_t, Ran> runs = {};
  int64_t next = 1;
};

class Call {
 public:
  Call(Desktop& on, json::Value params, std::string_view request, const DeskCall& beside)
      : desk(on), with(beside), params_(params), request_(request) {}

  Desktop& desk;
  const DeskCall& with;
  json::Writer out;  // the result

  bool has(std::string_view key) const;
  std::string text(std::string_view key, std::string_view fallback = "") const;
  std::string need_text(std::string_view key) const;  // throws use.params
  int64_t integer(std::string_view key, int64_t fallback) const;
  bool flag(std::string_view key, bool fallback = false) const;
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<int64_t> integers(std::string_view key) const;
  std::map<std::string, int64_t> sizes(std::string_view key) const;
  json::Value value(std::string_view key) const;        // missing: false
  std::string json_text(std::string_view key) const;    // as it was sent; "" where it is missing
  Opened& model(std::string_view key = "model") const;  // throws use.model
  int64_t handle(std::string_view key = "model") const { return integer(key, 0); }
  const Buffer& given(int64_t number) const;  // throws use.params
  std::optional<int64_t> give(Buffer bytes);  // the number of the blob; none: nobody takes it
  std::optional<int64_t> give(std::string bytes);
  bool progress(const char* what, uint64_t done,
                uint64_t all) const;  // throws budget.interrupted where it is cancelled

 private:
  json::Value params_;
  std::string_view request_;
};

struct Method {
  std::string_view name;
  void (*run)(Call& call);  // writes one value to call.out
};

std::span<const Method> model_methods();    // open, close, models, show, stats, text, save
std::span<const Method> graph_methods();    // graph, picture, node, search, path
std::span<const Method> weight_methods();   // weight
std::span<const Method> verb_methods();     // simplify, convert, infer, export, quantize, ...
std::span<const Method> finding_methods();  // check, lint, diff, verify
std::span<const Method> run_methods();      // inputs, run, value, values

// A new model on the desk; writes what the page needs to know of it as one object, or only its numbers for a preview.
void put_down(Call& call, Opened made, const std::vector<Diag>& findings);
// What a verb made of the call's model.
struct Files;
Opened made_of(Call& call, Model model, std::string_view verb, const Files& files, std::string command);
void write_findings(json::Writer& w, const std::vector<Diag>& findings);
// {"name", "dtype", "shape", "blob"} or {"name", "npy": blob}, each in a list; and the arrays of an .npz.
std::vector<NamedValue> given_inputs(Call& call, const json::Value& list);
void add_archive(Call& call, const Model& model, const Buffer& file, std::vector<NamedValue>& out);
void quantize_model(Call& call);
void quantize_dynamically(Call& call);
void quantize_only_weights(Call& call);
// {"name": NAME, "files": [...]}: what `write` writes into a folder, whose names it gives back; in the desk's folder
// for that, else as blobs.
void give_written(Call& call, const std::string& name,
                  const std::function<std::vector<std::string>(const std::string& folder)>& write);
// A word of a command line, quoted where a shell would take it apart.
std::string shell_word(std::string_view text);
std::string shell_file(std::string_view path);  // which no command takes for a flag

}  // namespace cameo::page
