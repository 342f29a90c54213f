#include "formats/mapping.h"

#include "formats/posix_files.h"

#if CAMEO_PIECES
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "support/error.h"
#include "support/file_bytes.h"
#elif CAMEO_POSIX_FILES
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>
#endif

namespace cameo::formats {

#if CAMEO_POSIX_FILES && !CAMEO_PIECES

namespace {

// A mapped range as the signal handler sees it: only atomics, in a list that only grows. Free ones begin at 0.
struct Watched {
  std::atomic<uint64_t> version{0};  // odd while the range changes
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<bool> lost{false};
  Watched* next = nullptr;

  void set(uintptr_t from, uintptr_t to) {
    version.fetch_add(1);
    begin.store(from);
    end.store(to);
    version.fetch_add(1);
  }
  // The range's end where it holds `at`, else 0.
  uintptr_t end_if_inside(uintptr_t at) const {
    const uint64_t before = version.load();
    const uintptr_t from = begin.load(), to = end.load();
    return before % 2 == 0 && version.load() == before && from != 0 && at >= from && at < to ? to : 0;
  }
};
std::atomic<Watched*> all_watched{nullptr};
struct sigaction former_action;  // what SIGBUS did before

uintptr_t page_bytes() {
  static const auto bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}
uintptr_t page_of(uintptr_t at) { return at / page_bytes() * page_bytes(); }

void pass_on(int signal, siginfo_t* info, void* context) {
  if (former_action.sa_flags & SA_SIGINFO) return former_action.sa_sigaction(signal, info, context);
  const bool was_sent = info->si_code <= 0;  // by kill(), not by a fault
  if (former_action.sa_handler == SIG_IGN && was_sent) return;
  if (former_action.sa_handler != SIG_DFL && former_action.sa_handler != SIG_IGN)
    return former_action.sa_handler(signal);
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  ::sigaction(signal, &plain, nullptr);
  if (was_sent) ::raise(signal);  // a fault comes again by itself
}

// Only what is safe inside a signal handler: atomics and plain system calls.
void on_lost_page(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  if (info->si_code == BUS_ADRERR) {
    for (Watched* w = all_watched.load(); w; w = w->next) {
      const uintptr_t end = w->end_if_inside(at);
      if (end == 0) continue;
      // A file that ends before this page ends before all that follow: one fault is enough for them.
      const uintptr_t from = page_of(at);
      const void* zeros = ::mmap(reinterpret_cast<void*>(from), end - from, PROT_READ,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
      if (zeros == MAP_FAILED) break;
      w->lost.store(true);
      errno = saved;
      return;
    }
  }
  errno = saved;
  pass_on(signal, info, context);
}

void watch_for_lost_pages() {
  static const bool once = [] {
    page_bytes();
    ::sigaction(SIGBUS, nullptr, &former_action);
    struct sigaction ours {};
    ours.sa_sigaction = on_lost_page;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    return ::sigaction(SIGBUS, &ours, nullptr) == 0;
  }();
  static_cast<void>(once);
}

// Called with the mappings' mutex held.
Watched& watch(uintptr_t from, uintptr_t to) {
  watch_for_lost_pages();
  Watched* w = all_watched.load();
  while (w && w->begin.load() != 0) w = w->next;
  if (!w) {
    w = new Watched;  // for ever: a handler may be looking at it
    w->next = all_watched.load();
    w->set(from, to);
    all_watched.store(w);
    return *w;
  }
  w->lost.store(false);
  w->set(from, to);
  return *w;
}

struct Stamp {
  uint64_t size = 0;
  int64_t seconds = 0, nanoseconds = 0;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};
Stamp stamp_of(int file) {
  struct stat s {};
  if (::fstat(file, &s) != 0) return {};
#if defined(__APPLE__)
  return {static_cast<uint64_t>(s.st_size), s.st_mtimespec.tv_sec, s.st_mtimespec.tv_nsec};
#else
  return {static_cast<uint64_t>(s.st_size), s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
#endif
}

}  // namespace

class Mapping {
 public:
  Mapping(void* start, size_t bytes, int open_file, std::string called, Watched& seen)
      : at(static_cast<const std::byte*>(start)),
        length(bytes),
        file(open_file),
        name(std::move(called)),
        watched(seen) {
    if (file >= 0) stamp = stamp_of(file);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  bool holds(std::span<const std::byte> view) const {
    return view.data() >= at && view.data() < at + length &&
           view.size() <= static_cast<size_t>(at + length - view.data());
  }
  bool is_changed() const { return file >= 0 && stamp_of(file) != stamp; }

  const std::byte* const at;
  const size_t length;
  const int file;  // stays open so that parts of it can be copied; -1: not
  const std::string name;
  Watched& watched;
  Stamp stamp;
};

namespace {
// Mapped files are kept open, up to a limit, since file descriptors are few.
constexpr size_t most_open = 256;

struct Mappings {
  std::mutex mutex;
  std::vector<const Mapping*> all;
  std::vector<std::weak_ptr<const Mapping>> open;
  std::vector<std::string> lost_and_gone, changed_and_gone;  // no longer mapped, and not reported yet

  void drop_dead() {
    std::erase_if(open, [](const auto& m) { return m.expired(); });
  }
};
Mappings& mappings() {
  static Mappings* const all = new Mappings;  // for ever: views of files may outlive it otherwise
  return *all;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

template <class Call>
std::ptrdiff_t retried(Call call) {
  for (;;)
    if (const auto n = call(); n >= 0 || errno != EINTR) return n;
}
}  // namespace

Mapping::~Mapping() {
  {
    Mappings& known = mappings();
    const std::lock_guard lock(known.mutex);
    if (watched.lost.load()) add_once(known.lost_and_gone, name);
    if (is_changed()) add_once(known.changed_and_gone, name);
    watched.set(0, 0);
    std::erase(known.all, this);
  }
  ::munmap(const_cast<std::byte*>(at), length);
  if (file >= 0) ::close(file);
}

Bytes map_open_file(std::intptr_t handle, uint64_t bytes, const std::string& name) {
  const auto length = static_cast<size_t>(bytes);
  const int descriptor = static_cast<int>(handle);
  void* at = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (at == MAP_FAILED) return {};
  Mappings& known = mappings();
  const std::lock_guard lock(known.mutex);
  known.drop_dead();
  const bool kept_open = known.open.size() < most_open;
  const auto from = reinterpret_cast<uintptr_t>(at);
  Watched& watched = watch(from, page_of(from + length - 1) + page_bytes());
  const auto owner = std::make_shared<const Mapping>(
      at, length, kept_open ? ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1, name, watched);
  known.all.push_back(owner.get());
  if (owner->file >= 0) known.open.push_back(owner);
  return {owner, {owner->at, length}};
}

MappedRange mapped_range(std::span<const std::byte> view) {
  Mappings& known = mappings();
  const std::lock_guard lock(known.mutex);
  for (const auto& weak : known.open)
    if (auto m = weak.lock(); m && m->holds(view)) return {m, static_cast<uint64_t>(view.data() - m->at), view.size()};
  return {};
}

const std::string& name_of(const MappedRange& range) { return range.file->name; }

FilePlace file_place(const Bytes&) { return {}; }

void release_pages(std::span<const std::byte> view) {
  const MappedRange range = mapped_range(view);
  if (!range.file) return;
  // Only whole pages: other data in the first and the last page may be in use.
  const uint64_t page = page_bytes();
  const uint64_t first = (range.offset + page - 1) / page * page, last = (range.offset + range.size) / page * page;
  if (first < last)
    ::madvise(const_cast<std::byte*>(range.file->at) + first, static_cast<size_t>(last - first), MADV_DONTNEED);
}

std::ptrdiff_t read_range(const MappedRange& from, std::span<std::byte> into) {
  constexpr size_t call_bytes = size_t{1} << 30;  // Linux moves at most this much per call
  const auto length = static_cast<size_t>(std::min<uint64_t>({from.size, into.size(), call_bytes}));
  return retried([&] { return ::pread(from.file->file, into.data(), length, static_cast<off_t>(from.offset)); });
}

std::vector<std::string> lost_files() {
  Mappings& known = mappings();
  const std::lock_guard lock(known.mutex);
  std::vector<std::string> out = std::exchange(known.lost_and_gone, {});
  for (const Mapping* m : known.all)
    if (m->watched.lost.load()) add_once(out, m->name);
  return out;
}

std::vector<std::string> changed_files() {
  Mappings& known = mappings();
  const std::lock_guard lock(known.mutex);
  std::vector<std::string> out = std::exchange(known.changed_and_gone, {});
  for (const Mapping* m : known.all)
    if (m->is_changed()) add_once(out, m->name);
  return out;
}

#else

#if CAMEO_PIECES

namespace {
// Keeps the file open; what is read is never mapped, and a file that changed meanwhile is an error at once.
class PiecedFile : public support::PieceSource {
 public:
  PiecedFile(int descriptor, uint64_t bytes, std::string called)
      : PieceSource(bytes), file_(descriptor), name_(std::move(called)) {
    all()[place] = this;
  }
  ~PiecedFile() override {
    all().erase(place);
    ::close(file_);
  }
  // The files there are, by their places, which lie apart.
  static std::map<uint64_t, const PiecedFile*>& all() {
    static auto* const files = new std::map<uint64_t, const PiecedFile*>;  // outlives every file
    return *files;
  }
  int descriptor() const { return file_; }

  void read(uint64_t offset, std::span<std::byte> into) const override {
    while (!into.empty()) {
      // Not pread: Emscripten 3.1's takes offsets of 31 bits.
      const bool found = ::lseek(file_, static_cast<off_t>(offset), SEEK_SET) >= 0;
      const auto got = found ? ::read(file_, into.data(), into.size()) : -1;
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0)
        throw error("file.changed", cat(name_, " was changed while it was read"))
            .at({.file = name_, .offset = offset})
            .why(got < 0 ? std::strerror(errno) : "it is shorter than it was");
      into = into.subspan(static_cast<size_t>(got));
      offset += static_cast<uint64_t>(got);
    }
  }

 private:
  const int file_;
  const std::string name_;
};

int descriptor_of(std::intptr_t handle) {
#if CAMEO_POSIX_FILES
  return static_cast<int>(handle);
#else
  return ::fileno(reinterpret_cast<std::FILE*>(handle));
#endif
}
}  // namespace

Bytes map_open_file(std::intptr_t handle, uint64_t length, const std::string& name) {
  const int descriptor = ::dup(descriptor_of(handle));
  return descriptor < 0 ? Bytes() : Bytes(std::make_shared<const PiecedFile>(descriptor, length, name));
}

FilePlace file_place(const Bytes& b) {
  if (support::in_memory(b)) return {};
  const uint64_t place = support::place_of(b);
  auto file = PiecedFile::all().upper_bound(place);
  if (file == PiecedFile::all().begin()) return {};
  --file;
  const uint64_t offset = place - file->first;
  return offset < file->second->size ? FilePlace{file->second->descriptor(), offset} : FilePlace();
}

#endif

class Mapping {};
MappedRange mapped_range(std::span<const std::byte>) { return {}; }
std::ptrdiff_t read_range(const MappedRange&, std::span<std::byte>) { return -1; }
const std::string& name_of(const MappedRange&) {
  static const std::string none;
  return none;
}
void release_pages(std::span<const std::byte>) {}
#if !CAMEO_PIECES
Bytes map_open_file(std::intptr_t, uint64_t, const std::string&) { return {}; }
FilePlace file_place(const Bytes&) { return {}; }
#endif
std::vector<std::string> lost_files() { return {}; }
std::vector<std::string> changed_files() { return {}; }

#endif

}  // namespace cameo::formats
