// All of Cameo. docs/library.md has whole programs.
#pragma once

#include "cameo/array.h"
#include "cameo/build.h"
#include "cameo/check.h"
#include "cameo/convert.h"
#include "cameo/diag.h"
#include "cameo/edit.h"
#include "cameo/export.h"
#include "cameo/limits.h"
#include "cameo/model.h"
#include "cameo/operators.h"
#include "cameo/progress.h"
#include "cameo/session.h"
#include "cameo/simplify.h"
#include "cameo/stats.h"
#include "cameo/verify.h"
#include "cameo/version.h"
