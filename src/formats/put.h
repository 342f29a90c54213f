// Bytes of files to writers, without a look at them where the system can do without.
#pragma once

#include "formats/mapped_file.h"

namespace cameo::formats {

// As sink(data.span()). What lies in a file that is read in pieces (support/pieced_bytes.h) is not read if the sink is
// an AtomicFile's and files can be made of slices of others, as in a browser; elsewhere it is read a piece at a time.
void put(const Sink& sink, const Bytes& data);

}  // namespace cameo::formats
