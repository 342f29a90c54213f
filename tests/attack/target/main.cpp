// The fork server of the attack campaign (docs/testing.md): the whole command, started once; every request runs it in a
// forked child and tells how that ended.
//
//   attack_target EDGES        EDGES: a file of the edges seen so far, or "" for none
//
// Requests come on descriptor 3, replies go to descriptor 4; see Request and Reply, and tests/attack/target.py.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "tests/attack/target/coverage.h"
#include "tests/attack/target/faces.h"
#include "tests/attack/target/stacks.h"
#include "tests/attack/target/warm.h"

int command_main(int argc, char** argv);

namespace {

constexpr int from_campaign = 3, to_campaign = 4;

struct Request {
  uint32_t bytes, limit_ms, memory_mb, resident_mb,
      words;  // then the folder and the arguments, each ended by a zero byte
};

struct Reply {
  int32_t status;
  uint32_t wall_us, resident_kb, ended;  // ended: see Ended
  uint32_t new_edges, edges, out_kept, err_kept;
  uint64_t out_bytes, err_bytes;  // then what was kept of standard output and of standard error
};

enum Ended : uint32_t { by_itself, out_of_time, out_of_memory };

bool read_all(void* to, size_t n) {
  auto* p = static_cast<char*>(to);
  while (n) {
    const ssize_t got = read(from_campaign, p, n);
    if (got <= 0) return false;
    p += got;
    n -= static_cast<size_t>(got);
  }
  return true;
}

void write_all(const void* from, size_t n) {
  auto* p = static_cast<const char*>(from);
  while (n) {
    const ssize_t put = write(to_campaign, p, n);
    if (put <= 0) std::exit(3);
    p += put;
    n -= static_cast<size_t>(put);
  }
}

// A stream of the child: a file in memory that is emptied before each run.
struct Captured {
  int fd = memfd_create("attack", MFD_CLOEXEC);
  void empty() const {
    if (ftruncate(fd, 0) != 0) std::exit(3);
    lseek(fd, 0, SEEK_SET);
  }
  uint64_t size() const { return static_cast<uint64_t>(lseek(fd, 0, SEEK_END)); }
  std::string head(size_t most) const {
    std::string out(std::min<uint64_t>(most, size()), '\0');
    const ssize_t n = pread(fd, out.data(), out.size(), 0);
    out.resize(n < 0 ? 0 : static_cast<size_t>(n));
    return out;
  }
};

[[noreturn]] void run_child(const Request& r, std::vector<char*>& words, const Captured& out, const Captured& err) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(out.fd, 1);
  dup2(err.fd, 2);
  close(from_campaign);
  close(to_campaign);
  const rlimit no_core{0, 0}, file{1u << 30, 1u << 30};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_FSIZE, &file);
  if (chdir(words[0]) != 0) _exit(95);
  attack::watch(size_t{r.memory_mb} << 20);
  static char name[] = "cameo";
  words[0] = name;
  words.push_back(nullptr);
  const int count = static_cast<int>(words.size()) - 1;
  const std::string_view verb = count > 1 ? words[1] : "";
  const int status = verb == "desk" ? attack::desk_main(count, words.data())
                     : verb == "c"  ? attack::c_main(count, words.data())
                                    : command_main(count, words.data());
  std::fflush(nullptr);
  // With std::exit, the address sanitizer would write over the marks of every global, which takes as long as a small
  // run.
  _exit(status);
}

uint64_t resident_kb(pid_t child) {
  char path[64], text[128] = "";
  std::snprintf(path, sizeof path, "/proc/%d/statm", child);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  (void)!read(fd, text, sizeof text - 1);
  close(fd);
  unsigned long whole = 0, resident = 0;
  return std::sscanf(text, "%lu %lu", &whole, &resident) == 2 ? resident * 4 : 0;
}

// What the child has computed so far. A busy machine makes runs long, not slow.
int64_t computed_ms(pid_t child) {
  clockid_t clock = 0;
  timespec t{};
  if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
  return int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

// Waits for the child within its limits; one that is out of time may print its stack first. One that neither ends nor
// computes is given thirty times as long.
Ended wait_for(pid_t child, const Request& r, std::chrono::steady_clock::time_point start) {
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd ended{handle, POLLIN, 0};
  Ended how = by_itself;
  int64_t asked_to_end = 0;
  const auto ms = [&] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count() + 1;
  };
  while (handle < 0 || poll(&ended, 1, 20) == 0) {
    if (handle < 0) {
      siginfo_t info{};
      if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child)
        break;
      usleep(500);
    }
    if (asked_to_end && ms() > asked_to_end + 5000) kill(child, SIGKILL);
    if (asked_to_end) continue;
    const int64_t limit = r.limit_ms;
    if (ms() > limit && (computed_ms(child) > limit || ms() > 30 * limit)) how = out_of_time;
    else if (resident_kb(child) > uint64_t{r.resident_mb} * 1024) how = out_of_memory;
    if (how != by_itself) asked_to_end = ms(), kill(child, SIGUSR2);
  }
  if (handle >= 0) close(handle);
  return how;
}

void serve(const Request& r, std::vector<char*>& words, const Captured& out, const Captured& err) {
  out.empty();
  err.empty();
  attack::clear_counters();
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child < 0) std::exit(3);
  if (child == 0) run_child(r, words, out, err);
  Reply reply{};
  reply.ended = wait_for(child, r, start);
  rusage usage{};
  wait4(child, &reply.status, 0, &usage);
  reply.wall_us = static_cast<uint32_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count());
  reply.resident_kb = static_cast<uint32_t>(usage.ru_maxrss);
  reply.new_edges = attack::take_new_edges();
  if (reply.new_edges) reply.edges = attack::edges_seen();
  const std::string o = out.head(1 << 20), e = err.head(1 << 18);
  reply.out_bytes = out.size(), reply.err_bytes = err.size();
  reply.out_kept = static_cast<uint32_t>(o.size()), reply.err_kept = static_cast<uint32_t>(e.size());
  write_all(&reply, sizeof reply);
  write_all(o.data(), o.size());
  write_all(e.data(), e.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: attack_target EDGES, with requests on descriptor 3; tests/attack/run starts it\n");
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  attack::share_counters(argv[1]);
  attack::prepare_stacks();
  attack::warm_up();
  const Captured out, err;
  const uint32_t hello[2] = {static_cast<uint32_t>(attack::edge_count()),
                             attack::edge_count() ? attack::edges_seen() : 0};
  write_all(hello, sizeof hello);
  for (Request r{}; read_all(&r, sizeof r);) {
    std::string text(r.bytes, '\0');
    if (!read_all(text.data(), text.size())) break;
    std::vector<char*> words;
    for (size_t i = 0; i < text.size() && words.size() < r.words; i += std::strlen(&text[i]) + 1)
      words.push_back(&text[i]);
    serve(r, words, out, err);
  }
  return 0;
}
