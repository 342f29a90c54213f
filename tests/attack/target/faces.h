// Faces of the library that the command does not use, as verbs that only the attack target has.
#pragma once

namespace attack {

// A desk over one model, asked line by line, as the page asks it:   desk MODEL REQUESTS [BLOB...]
int desk_main(int argc, char** argv);
// One function of the C interface:   c FUNCTION MODEL SETTINGS OUT [SECOND]
int c_main(int argc, char** argv);

}  // namespace attack
