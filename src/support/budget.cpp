#include "support/budget.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "cameo/progress.h"

namespace cameo::support {

namespace {

// detail::attention: a bit, and above it the number of deadlines and questions of all threads.
constexpr uint32_t interrupt_bit = 1, one_scope = 2;

constinit thread_local LimitScope* current = nullptr;
constinit thread_local StopQuestion question = nullptr;
constinit thread_local uint32_t asked = 0;
constinit thread_local int64_t asked_ns = 0;
constinit std::atomic<uint64_t> taken{0}, memory_limit{0};
constinit std::atomic<bool> counted_by_allocator{false};
constexpr Limits defaults;

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

const Limits& sensible(const Limits& limits) {
  if (limits.seconds >= 0 && limits.turns >= 0) return limits;
  throw error("use.value", "a limit is negative").help("leave a limit out, or give 0 seconds, where there is none");
}

Error stopped() { return error("budget.interrupted", "interrupted"); }

}  // namespace

namespace detail {
constinit std::atomic<uint32_t> attention{0};
}  // namespace detail

// What a checkpoint may know of a scope.
struct LimitWatch {
  static const Limits& limits_of(const LimitScope& s) { return s.limits_; }
  static bool is_late(const LimitScope& s) { return s.deadline_ns_ && now_ns() > s.deadline_ns_; }
};

void detail::attend() {
  if (std::uncaught_exceptions() > 0) return;  // destructors finish
  const uint32_t why = attention.load(std::memory_order_relaxed);
  if (why & interrupt_bit) throw stopped();
  if (question && ++asked % 16 == 0) {  // asking takes Python's lock: not more often than a person notices
    constexpr int64_t pause_ns = 20'000'000;
    if (const int64_t now = now_ns(); now - asked_ns > pause_ns) {
      asked_ns = now;
      if (question()) throw stopped();
    }
  }
  if (current && LimitWatch::is_late(*current))
    throw over_budget("time", cat("this takes longer than ", limits().seconds, " s"), "--max-time");
}

bool interrupted() { return detail::attention.load(std::memory_order_relaxed) & interrupt_bit; }

const Limits& limits() { return current ? LimitWatch::limits_of(*current) : defaults; }

Error over_budget(std::string_view budget, std::string what, std::string_view flag) {
  return error(cat("budget.", budget), std::move(what))
      .help(flag.empty() ? "no real model is known to need so much; please report one that does"
                         : cat(flag, " raises this limit"));
}

bool is_budget(const Error& e) { return e.diag().code.starts_with("budget."); }

bool take_memory(uint64_t bytes) noexcept {
  const uint64_t before = taken.fetch_add(bytes, std::memory_order_relaxed),
                 limit = memory_limit.load(std::memory_order_relaxed);
  if (!limit || (before <= limit && bytes <= limit - before)) return true;
  taken.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void give_memory(uint64_t bytes) noexcept { taken.fetch_sub(bytes, std::memory_order_relaxed); }
uint64_t memory_taken() { return taken; }
void allocator_counts() noexcept { counted_by_allocator = true; }

Error out_of_memory() {
  const uint64_t limit = memory_limit;
  return over_budget(
      "memory",
      limit ? cat("this takes more memory than ", limit < 10u << 20 ? cat(limit, " bytes") : cat(limit >> 20, " MiB"))
            : std::string("there is not enough memory for this"),
      "--max-memory");
}

MemoryClaim::MemoryClaim(uint64_t bytes) : bytes_(counted_by_allocator ? 0 : bytes) {
  if (bytes_ && !take_memory(bytes_)) {
    bytes_ = 0;
    throw out_of_memory();
  }
}

}  // namespace cameo::support

namespace cameo {

using namespace support;

void interrupt() noexcept { detail::attention.fetch_or(interrupt_bit); }
void resume() noexcept { detail::attention.fetch_and(~interrupt_bit); }

StopScope::StopScope(StopQuestion ask) : outer_(question) {
  question = ask;
  detail::attention.fetch_add(one_scope);
}

StopScope::~StopScope() {
  detail::attention.fetch_sub(one_scope);
  question = outer_;
}

LimitScope::LimitScope(const Limits& limits)
    : limits_(sensible(limits)), outer_memory_(memory_limit.exchange(limits.memory_bytes)), outer_(current) {
  if (limits.seconds > 0) {
    constexpr double most = 1e9;  // seconds: more does not fit into nanoseconds
    deadline_ns_ = now_ns() + static_cast<int64_t>(std::min(limits.seconds, most) * 1e9);
    detail::attention.fetch_add(one_scope);
  }
  current = this;
}

LimitScope::~LimitScope() {
  if (deadline_ns_) detail::attention.fetch_sub(one_scope);
  memory_limit = outer_memory_;
  current = outer_;
}

}  // namespace cameo
