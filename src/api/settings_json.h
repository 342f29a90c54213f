// Settings as JSON, for faces that have no structs: the members' names are those of include/cameo.
#pragma once

#include <string>
#include <string_view>

#include "cameo/convert.h"
#include "cameo/edit.h"
#include "cameo/export.h"
#include "cameo/lint.h"
#include "cameo/page.h"
#include "cameo/prepare.h"
#include "cameo/quantize.h"
#include "cameo/session.h"
#include "cameo/simplify.h"
#include "cameo/verify.h"
#include "cameo/view.h"

namespace cameo::faces {

// Each takes an object, or "" for the defaults. Throws use.settings for what is not JSON, a member that there is not
// (with the nearest name) or a value of the wrong kind.
SaveSettings save_settings(std::string_view json);
ExportSettings export_settings(std::string_view json);
SimplifySettings simplify_settings(std::string_view json);
ConvertSettings convert_settings(std::string_view json);
QuantizeSettings quantize_settings(std::string_view json);
LintSettings lint_settings(std::string_view json);
LintFixSettings lint_fix_settings(std::string_view json);
PrepareSettings prepare_settings(std::string_view json);
MergeSettings merge_settings(std::string_view json);
VerifySettings verify_settings(std::string_view json);
SessionSettings session_settings(std::string_view json);
DeskSettings desk_settings(std::string_view json);
ViewSettings view_settings(std::string_view json);

}  // namespace cameo::faces
