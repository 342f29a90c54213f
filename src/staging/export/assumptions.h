// What a model is only right for: conditions on sizes that the user gave or that had to be guessed. Told as notes, kept
// in the model's metadata, checked by sessions (docs/staging.md).
#pragma once

#include "staging/machine/machine.h"

namespace cameo::staging {

// The user's own (--assume), as facts; once the inputs have their sizes. Throws use.assume.
void take_assumptions(Machine& s);
// Guesses about sizes that only a run knows, as checks for the model itself: sessions look at its inputs. Throws
// stage.guess where nothing outside of a loop or a branch has the size.
std::vector<Machine::Check> checks_of_guesses(Machine& s);
// A warning for each guess, and all conditions into the model's metadata.
void tell_assumptions(Machine& s);
// The same conditions where sizes got other names.
void rename_assumptions(Model& m, const std::vector<std::pair<std::string, std::string>>& from_to);

}  // namespace cameo::staging
