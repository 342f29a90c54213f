#include "engine/onednn/strip_calls.h"

#include "engine/parallel.h"
#include "support/error.h"

namespace cameo::engine {

struct StripCalls::State {
  struct Call {
    std::vector<dnnl::memory> memory;
    std::vector<dnnl_exec_arg_t> args;
    Addresses at{};
  };
  std::vector<Call> calls;
};

void StripCalls::add(const ConvPd& pd, std::optional<std::pair<int, Md>> last) {
  kinds_.push_back({pd, dnnl::convolution_forward(pd), std::move(last)});
}

std::shared_ptr<void> StripCalls::make_state() const {
  auto s = std::make_shared<State>();
  for (int t = 0; t < threads_; ++t)
    for (const Kind& k : kinds_) {
      State::Call& call = s->calls.emplace_back();
      const auto add = [&](int name, const Md& md) {
        call.memory.emplace_back(md, cpu(), nullptr);
        call.args.push_back({name, call.memory.back().get()});
      };
      add(DNNL_ARG_SRC, k.pd.src_desc());
      add(DNNL_ARG_WEIGHTS, k.pd.weights_desc());
      add(DNNL_ARG_DST, k.pd.dst_desc());
      add(DNNL_ARG_SCRATCHPAD, k.pd.scratchpad_desc());
      if (k.last) add(k.last->first, k.last->second);
    }
  return s;
}

void StripCalls::call(void* state, size_t kind, int64_t thread, const Addresses& at) const {
  State::Call& call = static_cast<State*>(state)->calls[static_cast<size_t>(thread) * kinds_.size() + kind];
  for (size_t i = 0; i < call.args.size(); ++i)
    if (call.at[i] != at[i])
      dnnl_memory_set_data_handle(call.args[i].memory, call.at[i] = at[i]);  // it clears padding: weights, once
  const dnnl_status_t status = dnnl_primitive_execute(kinds_[kind].primitive.get(), stream().get(),
                                                      static_cast<int>(call.args.size()), call.args.data());
  if (status != dnnl_success)
    throw error("run.onednn", cat("oneDNN could not run ", about(), " (status ", static_cast<int>(status), ")"));
}

void StripCalls::each(size_t strips, const std::function<void(size_t, int64_t)>& f) const {
  const auto count = static_cast<int64_t>(strips);
  parallel(threads_, 1, [&](int64_t first, int64_t last) {
    const ThreadScope alone(1);
    for (int64_t t = first; t < last; ++t)
      for (int64_t i = count * t / threads_; i < count * (t + 1) / threads_; ++i) f(static_cast<size_t>(i), t);
  });
}

}  // namespace cameo::engine
