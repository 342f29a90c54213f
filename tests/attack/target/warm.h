#pragma once

namespace attack {

// What every child would do again, done once before the first fork: tables, and a library.
void warm_up();

}  // namespace attack
