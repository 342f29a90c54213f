// What stands behind the public Publication.
#pragma once

#include "formats/publication.h"

#include "cameo/publication.h"

namespace cameo {

struct PublicationState {
  formats::Publication files;

  static formats::Publication& files_of(const Publication& p);  // throws use.moved-from
  static formats::AtomicFile& file_of(const Publication::File& f);
};

}  // namespace cameo
