// As much of HTTP as the page needs, over a socket of this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/array.h"

namespace cameo::page {

// A connection; closed at the end.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool send(std::string_view bytes);                      // false: the other side is gone
  bool closed() const;                                    // by the other side
  size_t read(char* into, size_t most, int patience_ms);  // 0: nothing more comes
  int socket() const { return socket_; }

 private:
  int socket_;
};

struct HttpRequest {
  std::string method, path;
  std::map<std::string, std::string> headers;  // names in small letters
  uint64_t length = 0;                         // of the body
  std::string begun;                           // what was read of it already
};

// False: not a request that is answered.
bool read_request(Connection& c, HttpRequest& out);
// The whole body; false where it does not come.
bool read_body(Connection& c, const HttpRequest& r, std::string& out);

std::string head_of(int status, std::string_view type, const std::vector<std::string>& more = {});

// A socket on 127.0.0.1; -1 where the port is taken. `port` gets the one that it has.
int listen_locally(uint16_t& port);
int accept_one(int listening, int patience_ms);  // -1: nobody came

std::string random_token();  // 32 hexadecimal digits

}  // namespace cameo::page
