// include/cameo/view.h: the page behind an address of this machine. A call streams frames back: one byte of kind (1
// progress, 2 reply, 3 blob), eight of length, the contents. A page that goes away cancels its call.
#include "support/budget.h"
#include "support/error.h"

#include "api/page/embedded.h"
#include "api/page/http.h"
#include "cameo/json.h"
#include "cameo/page.h"
#include "cameo/view.h"

#if !defined(__EMSCRIPTEN__)
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include <atomic>
#include <chrono>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>

namespace cameo {

namespace {

using support::cat;
using support::error;
using Clock = std::chrono::steady_clock;

enum class Frame : char { progress = 1, reply = 2, blob = 3 };

std::string frame_head(Frame kind, uint64_t length) {
  std::string out(1, static_cast<char>(kind));
  for (int i = 0; i < 8; ++i) out += static_cast<char>(length >> (8 * i));
  return out;
}
bool send_frame(page::Connection& c, Frame kind, std::string_view contents) {
  return c.send(frame_head(kind, contents.size())) && c.send(contents);
}

// The calling thread's connection, for the question whether to stop.
thread_local const page::Connection* asking = nullptr;
bool asker_is_gone() { return asking && asking->closed(); }

// The body: eight bytes of length and the request, then the blobs, each with its length.
bool parts_of(const std::shared_ptr<const std::string>& body, std::string_view& request, std::vector<Buffer>& blobs) {
  std::string_view rest = *body;
  bool first = true;
  while (!rest.empty()) {
    if (rest.size() < 8) return false;
    uint64_t length = 0;
    for (size_t i = 0; i < 8; ++i) length |= uint64_t{static_cast<unsigned char>(rest[i])} << (8 * i);
    rest.remove_prefix(8);
    if (length > rest.size()) return false;
    if (first) request = rest.substr(0, static_cast<size_t>(length));
    else blobs.push_back({body, rest.data(), static_cast<size_t>(length)});
    rest.remove_prefix(static_cast<size_t>(length));
    first = false;
  }
  return !first;
}

}  // namespace

struct PageServer::State {
  ViewSettings settings;
  Desk desk;
  std::mutex one_call;
  std::string token = page::random_token();
  uint16_t port = 0;
  int listening = -1;
  std::atomic<bool> ending = false;
  std::atomic<int> pages = 0;
  std::atomic<bool> seen = false;
  std::atomic<int64_t> last_seen = 0;  // of the steady clock, in milliseconds
  struct Worker {
    std::thread thread;
    std::atomic<bool> done = false;
    std::atomic<int> socket = -1;
  };
  std::list<Worker> workers;

  explicit State(const ViewSettings& s) : settings(s), desk({.files = s.files, .threads = s.threads}) {
    for (const auto& [name, model] : s.models) desk.offer(name, model);
  }
  ~State() {
    ending = true;
    for (Worker& w : workers)
      if (!w.done) ::shutdown(w.socket, SHUT_RDWR);
    for (Worker& w : workers) w.thread.join();
    if (listening >= 0) ::close(listening);
  }

  static int64_t now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
  }
  bool is_gone() const {
    return seen && pages == 0 && static_cast<double>(now_ms() - last_seen) > 1000 * settings.gone_seconds;
  }

  // Another site that guesses the port has another Host or Origin, and no token.
  bool is_ours(const page::HttpRequest& r) const {
    const auto header = [&](const char* name) {
      const auto it = r.headers.find(name);
      return it == r.headers.end() ? std::string() : it->second;
    };
    const std::string host = header("host"), origin = header("origin"), site = header("sec-fetch-site");
    const std::string here = cat("127.0.0.1:", port), by_name = cat("localhost:", port);
    if (host != here && host != by_name) return false;
    if (!origin.empty() && origin != cat("http://", host)) return false;
    return site.empty() || site == "same-origin" || site == "none";
  }

  void answer(page::Connection& c) {
    page::HttpRequest r;
    if (!page::read_request(c, r)) return void(c.send(page::head_of(400, "text/plain")));
    if (!is_ours(r)) return void(c.send(page::head_of(403, "text/plain")));
    const std::string base = cat("/", token, "/");
    if (!r.path.starts_with(base)) return void(c.send(page::head_of(404, "text/plain")));
    const std::string name = r.path.substr(base.size());
    if (r.method == "GET" && name.empty()) show(c);
    else if (r.method == "GET" && name == "alive") stay(c);
    else if (r.method == "POST" && name == "call") call(c, r);
    else c.send(page::head_of(404, "text/plain"));
  }

  void show(page::Connection& c) {
    static const std::string html = page::page_without_module();
    if (c.send(page::head_of(200, "text/html; charset=utf-8", {cat("Content-Length: ", html.size())}))) c.send(html);
  }

  // Open as long as the page is.
  void stay(page::Connection& c) {
    ++pages;
    seen = true;
    c.send(page::head_of(200, "text/plain"));
    char block[16];
    while (!ending && !c.closed()) c.read(block, sizeof block, 500);
    last_seen = now_ms();
    --pages;
  }

  void call(page::Connection& c, const page::HttpRequest& r) {
    auto body = std::make_shared<std::string>();
    std::string_view request;
    DeskCall with;
    if (!page::read_body(c, r, *body) || !parts_of(body, request, with.given))
      return void(c.send(page::head_of(400, "text/plain")));
    if (!c.send(page::head_of(200, "application/octet-stream"))) return;
    std::vector<Buffer> blobs;
    with.results = &blobs;
    with.progress = [&](const char* what, uint64_t done, uint64_t all) {
      json::Writer w;
      w.object().key("what").value(what).key("done").value(done).key("all").value(all).end();
      return !ending && send_frame(c, Frame::progress, w.text()) && !c.closed();
    };
    std::string reply;
    {
      const std::lock_guard lock(one_call);
      asking = &c;
      const StopScope stop(asker_is_gone);
      reply = desk.call(request, with);
      asking = nullptr;
    }
    if (!send_frame(c, Frame::reply, reply)) return;
    for (const Buffer& b : blobs)
      if (!send_frame(c, Frame::blob, {static_cast<const char*>(b.data), b.size})) return;
  }

  void serve(int socket) {
    constexpr size_t most_connections = 64;
    for (auto it = workers.begin(); it != workers.end();) {
      if (it->done) it->thread.join(), it = workers.erase(it);
      else ++it;
    }
    if (workers.size() >= most_connections) return void(::close(socket));
    Worker& w = workers.emplace_back();
    w.socket = socket;
    w.thread = std::thread([this, &w, socket] {
      {
        page::Connection c(socket);
        try {
          answer(c);
        } catch (const support::Bug&) {  // the connection ends; what a call threw is in its reply
        } catch (const std::exception&) {}
      }
      w.done = true;
    });
  }
};

PageServer::PageServer(const ViewSettings& settings) {
  page::needed_page();
  state_ = std::make_unique<State>(settings);
  state_->port = settings.port;
  state_->listening = page::listen_locally(state_->port);
  if (state_->listening < 0)
    throw error("view.port", settings.port ? cat("port ", settings.port, " of 127.0.0.1 cannot be used")
                                           : cat("no port of 127.0.0.1 can be used: ", std::strerror(errno)));
}
PageServer::~PageServer() = default;
PageServer::PageServer(PageServer&&) noexcept = default;

PageServer::State& PageServer::state() const {
  if (!state_) throw error("use.moved-from", "the server was moved from");
  return *state_;
}

std::string PageServer::address() const { return cat("http://127.0.0.1:", state().port, "/", state().token, "/"); }

void PageServer::stop() noexcept {
  if (state_) state_->ending = true;
}

void PageServer::run() {
  State& s = state();
  sigset_t all, before;
  while (!support::interrupted() && !s.ending && !s.is_gone()) {
    support::checkpoint();
    const int socket = page::accept_one(s.listening, 500);
    if (socket < 0) continue;
    sigfillset(&all);  // signals are for the thread that waits here
    pthread_sigmask(SIG_BLOCK, &all, &before);
    s.serve(socket);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}

}  // namespace cameo

#else

namespace cameo {

struct PageServer::State {};
PageServer::PageServer(const ViewSettings&) { throw support::error("use.page", "there is no server in a browser"); }
PageServer::~PageServer() = default;
PageServer::PageServer(PageServer&&) noexcept = default;
std::string PageServer::address() const { return ""; }
void PageServer::run() {}
void PageServer::stop() noexcept {}

}  // namespace cameo
#endif
