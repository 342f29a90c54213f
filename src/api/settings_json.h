// Settings as JSON, for faces that have no structs: the members' names are those of include/cameo.
#pragma once

#include <string>
#include <string_view>

#include "cameo/check.h"
#include "cameo/convert.h"
#include "cameo/dynamic.h"
#include "cameo/edit.h"
#include "cameo/export.h"
#include "cameo/limits.h"
#include "cameo/lint.h"
#include "cameo/operators.h"
#include "cameo/page.h"
#include "cameo/prepare.h"
#include "cameo/quantize.h"
#include "cameo/session.h"
#include "cameo/simplify.h"
#include "cameo/verify.h"
#include "cameo/view.h"
#include "cameo/weights.h"

namespace cameo::faces {

// Each takes an object, or "" for the defaults. Throws use.settings for what is not JSON, a member that there is not
// (with the nearest name) or a value of the wrong kind.
SaveSettings save_settings(std::string_view json);
ExportSettings export_settings(std::string_view json);
SimplifySettings simplify_settings(std::string_view json);
CheckSettings check_settings(std::string_view json);
InferSettings infer_settings(std::string_view json);
OperatorQuery operator_query(std::string_view json);
Limits limits(std::string_view json);
ConvertSettings convert_settings(std::string_view json);
QuantizeSettings quantize_settings(std::string_view json);
LintSettings lint_settings(std::string_view json);
LintFixSettings lint_fix_settings(std::string_view json);
PrepareSettings prepare_settings(std::string_view json);
MergeSettings merge_settings(std::string_view json);
WeightSettings weight_settings(std::string_view json);
DynamicSettings dynamic_settings(std::string_view json);
VerifySettings verify_settings(std::string_view json);
SessionSettings session_settings(std::string_view json);
DeskSettings desk_settings(std::string_view json);
ViewSettings view_settings(std::string_view json);

}  // namespace cameo::faces
