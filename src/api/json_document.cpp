#include "api/json_document.h"

#include "support/error.h"

namespace cameo::faces {

json::Document json_document(std::string_view text, std::string_view what) {
  try {
    return json::Document(support::Bytes::own(text), std::string(what));
  } catch (const Error& e) {
    throw support::error("use.settings", support::cat(what, " are not JSON: ", e.diag().what));
  }
}

}  // namespace cameo::faces
