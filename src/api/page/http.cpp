#include "api/page/http.h"

#if !defined(__EMSCRIPTEN__)
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <random>

#include "support/content_hash.h"
#include "support/error.h"

namespace cameo::page {

namespace {

using support::cat;

constexpr size_t longest_head = 16384;
constexpr uint64_t longest_body = uint64_t{4} << 30;
constexpr int patience_ms = 30'000;

std::string small(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

bool parse_head(std::string_view head, HttpRequest& out) {
  size_t end = head.find("\r\n");
  const std::string_view first = head.substr(0, end);
  const size_t a = first.find(' '), b = first.rfind(' ');
  if (a == first.npos || a == b || !first.substr(b + 1).starts_with("HTTP/1.")) return false;
  out.method = first.substr(0, a);
  out.path = first.substr(a + 1, b - a - 1);
  while (end != head.npos) {
    const size_t begin = end + 2;
    end = head.find("\r\n", begin);
    const std::string_view line = head.substr(begin, end == head.npos ? head.npos : end - begin);
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    if (!out.headers.emplace(small(line.substr(0, colon)), trimmed(line.substr(colon + 1))).second) return false;
  }
  if (out.headers.count("transfer-encoding")) return false;
  const std::string length = out.headers.count("content-length") ? out.headers["content-length"] : "0";
  const auto r = std::from_chars(length.data(), length.data() + length.size(), out.length);
  return r.ec == std::errc() && r.ptr == length.data() + length.size() && out.length <= longest_body;
}

}  // namespace

Connection::~Connection() { ::close(socket_); }

bool Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket_, bytes.data(), std::min<size_t>(bytes.size(), 1 << 20), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool Connection::closed() const {
  char c = 0;
  const ssize_t n = ::recv(socket_, &c, 1, MSG_PEEK | MSG_DONTWAIT);
  return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

size_t Connection::read(char* into, size_t most, int wait_ms) {
  pollfd p{socket_, POLLIN, 0};
  if (::poll(&p, 1, wait_ms) <= 0) return 0;
  const ssize_t n = ::recv(socket_, into, most, 0);
  return n > 0 ? static_cast<size_t>(n) : 0;
}

bool read_request(Connection& c, HttpRequest& out) {
  std::string text;
  char block[4096];
  while (true) {
    const size_t n = c.read(block, sizeof block, patience_ms);
    if (!n) return false;
    text.append(block, n);
    const size_t end = text.find("\r\n\r\n");
    if (end != text.npos) {
      out.begun = text.substr(end + 4);
      return parse_head(std::string_view(text).substr(0, end), out);
    }
    if (text.size() > longest_head) return false;
  }
}

bool read_body(Connection& c, const HttpRequest& r, std::string& out) {
  if (r.begun.size() > r.length) return false;
  out = r.begun;
  out.reserve(support::narrow<size_t>(std::min<uint64_t>(r.length, 1 << 20)));  // the rest as it comes
  std::string block(1 << 18, '\0');
  while (out.size() < r.length) {
    const size_t n = c.read(block.data(), std::min<uint64_t>(block.size(), r.length - out.size()), patience_ms);
    if (!n) return false;
    out.append(block, 0, n);
  }
  return true;
}

std::string head_of(int status, std::string_view type, const std::vector<std::string>& more) {
  const std::string_view word = status == 200   ? "OK"
                                : status == 404 ? "Not Found"
                                : status == 403 ? "Forbidden"
                                                : "Bad Request";
  std::string out = cat(
      "HTTP/1.1 ", status, " ", word, "\r\nContent-Type: ", type,
      "\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
      "Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n"
      "Cross-Origin-Embedder-Policy: require-corp\r\nCross-Origin-Resource-Policy: same-origin\r\n"
      "Content-Security-Policy: frame-ancestors 'none'; object-src 'none'; base-uri 'none'; form-action 'none'\r\n");
  for (const std::string& line : more) out += cat(line, "\r\n");
  return out + "\r\n";
}

int listen_locally(uint16_t& port) {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return -1;
  const int on = 1;
  ::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  if (::bind(s, reinterpret_cast<sockaddr*>(&address), size) || ::listen(s, 16) ||
      ::getsockname(s, reinterpret_cast<sockaddr*>(&address), &size)) {
    ::close(s);
    return -1;
  }
  port = ntohs(address.sin_port);
  return s;
}

int accept_one(int listening, int wait_ms) {
  pollfd p{listening, POLLIN, 0};
  if (::poll(&p, 1, wait_ms) <= 0) return -1;
  return ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
}

std::string random_token() {
  std::random_device device;
  const auto word = [&] { return (uint64_t{device()} << 32) | device(); };
  const uint64_t a = word(), b = word();
  return support::hex16(a) + support::hex16(b);
}

}  // namespace cameo::page
#endif
