// Changes to a model by name, as people ask for them. Values and nodes are those of the main graph.
//
// Every function throws edit.* when its names or values make no sense, with the nearest name there is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/tensor.h"

namespace cameo::passes {

ValueId find_value(const Graph& g, std::string_view name);       // throws edit.no-value; "%12" has no name
bool has_value(const Graph& g, std::string_view name);           // anywhere, bodies too
std::string free_name(const Graph& g, std::string_view wanted);  // as wanted, or "wanted_2", ..., which no value has
NodeId find_node(const Graph& g, std::string_view name);  // by its name, else by an output's; throws edit.no-node

// Types of inner values are forgotten and inferred; what inference cannot tell stays as it was declared, as do the
// types of `fixed`. Throws what a shape rule refuses.
void infer_anew(Model& m, std::span<const ValueId> fixed = {});

void add_output(Model& m, std::string_view value);
void remove_output(Model& m, std::string_view value);
void remove_input(Model& m, std::string_view value);  // unused, or with a default, which becomes an initializer
void rename(Model& m, std::string_view from, std::string_view to);  // a value, else a node
// A size is a number or a name. Other shapes follow by inference; what it cannot tell stays as declared.
void set_dim(Model& m, std::string_view value, int64_t axis, std::string_view size);
void fix_shape(Model& m, std::string_view value, const std::vector<std::string>& sizes);

// The value as text: 3, 0.5, "mean" or mean, [1, 2], read as the kind the operator's newest schema wants.
void set_attribute(Model& m, std::string_view node, std::string_view attribute, std::string_view text);
void set_operator(Model& m, std::string_view node, std::string_view op);  // attributes of the same name are kept
// "y2 = Relu(y)", "a, b = Split<axis=1>(x, {4, 80})", "z = com.acme.Fancy(x)": a new node, after what it reads;
// constants as constant_text.h has them.
void insert_node(Model& m, std::string_view text);
void rewire(Model& m, std::string_view from,
            std::string_view to);                   // users of `from` read `to`, but for what computes `to`
void remove_node(Model& m, std::string_view node);  // its users read its first input
// A weight's value; an input becomes a weight, and a name that the model does not have is added.
void set_initializer(Model& m, std::string_view name, const Tensor& value);
void set_metadata(Model& m, const std::string& key, const std::string& value);
// Documentation, and descriptions of inner values: what no engine needs. Names stay.
void strip(Model& m);

}  // namespace cameo::passes
