// A model in ONNX Runtime from C++: onnxruntime MODEL ROUNDS DIM... < input.f32 > output.f32. Prints the median of the times in milliseconds on stderr.
#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  std::vector<int64_t> shape;
  size_t count = 1;
  for (int i = 3; i < argc; ++i) shape.push_back(std::atoll(argv[i])), count *= static_cast<size_t>(shape.back());
  std::vector<float> image(count);
  if (std::fread(image.data(), sizeof(float), count, stdin) != count) return 2;

  Ort::Env env(ORT_LOGGING_LEVEL_ERROR, "road");
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(1);
  Ort::Session session(env, argv[1], options);
  Ort::AllocatorWithDefaultOptions allocator;
  const auto input = session.GetInputNameAllocated(0, allocator), output = session.GetOutputNameAllocated(0, allocator);
  const char *inputs[] = {input.get()}, *outputs[] = {output.get()};
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const Ort::Value value = Ort::Value::CreateTensor<float>(memory, image.data(), count, shape.data(), shape.size());

  std::vector<double> times;
  std::vector<Ort::Value> got;
  for (int i = std::max(1, std::atoi(argv[2])); i > 0; --i) {
    const auto start = std::chrono::steady_clock::now();
    got = session.Run(Ort::RunOptions(), inputs, &value, 1, outputs, 1);
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  std::fprintf(stderr, "%.4f\n", times[times.size() / 2]);
  const auto info = got[0].GetTensorTypeAndShapeInfo();
  const size_t written = std::fwrite(got[0].GetTensorData<float>(), sizeof(float), info.GetElementCount(), stdout);
  return written == info.GetElementCount() ? 0 : 1;
}
