#include "cli/stop.h"

#include <csignal>
#include <initializer_list>

#include "cameo/limits.h"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/time.h>
#include <unistd.h>
#define CAMEO_SIGNALS 1
#endif

namespace cameo::cli {

#ifdef CAMEO_SIGNALS

namespace {

volatile std::sig_atomic_t received = 0;

extern "C" void end_now(int) { _exit(128 + received); }

extern "C" void stop_soon(int signal) {
  received = signal;
  interrupt();
  struct sigaction hard = {};
  hard.sa_handler = end_now;
  sigaction(SIGALRM, &hard, nullptr);
  constexpr itimerval patience = {{0, 0}, {0, 80'000}};
  setitimer(ITIMER_REAL, &patience, nullptr);
}

}  // namespace

void stop_on_signals() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_IGN) continue;  // nohup, or a shell's background job
    struct sigaction stop = {};
    stop.sa_handler = stop_soon;
    stop.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one has its usual effect
    sigaction(signal, &stop, nullptr);
  }
}

int interrupted_code() { return 128 + (received ? received : SIGINT); }
int ended_code() { return received ? interrupted_code() : 0; }

#else

void stop_on_signals() {}
int interrupted_code() { return 130; }
int ended_code() { return 0; }

#endif

}  // namespace cameo::cli
