// Signals that end a command before its time.
#pragma once

namespace cameo::cli {

// Ctrl-C and SIGTERM stop the work at the next checkpoint, so that what is half written is removed. Where that takes
// longer than 80 ms the process ends at once; a second signal ends it at once too.
void stop_on_signals();
int interrupted_code();  // 128 and the signal's number, as shells have it
int ended_code();        // the same of what runs until it is stopped; 0: no signal came

}  // namespace cameo::cli
