#include "engine/session.h"

#include "engine/runner.h"

namespace cameo::engine {

Session::Session(Model model, const SessionOptions& options)
    : runner_(std::make_unique<engine::Runner>(std::move(model), options)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const Graph& Session::graph() const { return runner_->model.graph; }
int Session::threads() const { return runner_->options.threads; }
MemoryUse Session::memory() const { return {runner_->largest_arena, runner_->store.bytes()}; }
std::vector<Datum> Session::run(std::span<const Datum> inputs, std::vector<StepTime>* times,
                                const OutputMemory& lent) const {
  return runner_->run(inputs, times, lent, {});
}
std::vector<Datum> Session::run(std::span<const Datum> inputs, const Observer& observer) const {
  return runner_->run(inputs, nullptr, {}, observer);
}

}  // namespace cameo::engine
