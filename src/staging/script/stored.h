// Modules, parameters and constants of the archive as staged values. Weights stay views of the mapped file.
#pragma once

#include "frontends/torchscript/program.h"
#include "staging/machine/machine.h"

namespace cameo::staging {

class ScriptInterpreter;

class StoredValues {
 public:
  explicit StoredValues(ScriptInterpreter& script);  // of its program, on its machine

  Value from(const ts::StoredValue& v);
  Value from(const ts::StoredObject& o);
  bool is_parameter(CellId tensor) const;  // a parameter or buffer of the archive
  bool is_module(CellId object) const;     // an object of the archive

 private:
  void name_parameters(const ts::StoredObject& o, const std::string& path);
  Value from(const ts::StoredTensor& t);
  Value enumeration(const ts::StoredValue& v);
  Value quantized(const ts::StoredTensor& t, V ints, DType dtype);
  Value quantized_rows(const ts::StoredTensor& t, V ints);
  Value packed_state(const ts::StoredObject& o);  // of a C++ object

  ScriptInterpreter& script_;
  Machine& s_;
  UndoMap<std::unordered_map<const ts::StoredObject*, Value>> objects_;
  UndoMap<std::unordered_map<const void*, Value>> made_;  // tensors, lists, tuples and dicts
  UndoStack<std::pair<const ts::StoredTensor*, Value>> tensors_;
  std::unordered_map<const ts::StoredObject*, std::string> object_paths_;
  std::unordered_map<const ts::StoredTensor*, std::string> parameter_names_;
};

}  // namespace cameo::staging
