// What stands behind the public Publication.
#pragma once

#include "formats/publication.h"

#include "cameo/publication.h"

namespace cameo {

struct PublicationState {
  formats::Publication files;
  bool committed = false;

  static formats::Publication& files_of(const Publication& p);  // throws use.moved-from, use.publication
  static formats::Publication& last_use_of(const Publication& p);
  static formats::AtomicFile& file_of(const Publication::File& f);
};

}  // namespace cameo
