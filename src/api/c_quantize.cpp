// Quantization of include/cameo/c.h.
#include "api/c_calls.h"
#include "api/settings_json.h"

using namespace cameo;
using namespace cameo::faces;

namespace {

SampleSource samples_of(const Model& model, const char* samples, const char* image) {
  return samples ? samples_from(model, samples, image ? image : "") : SampleSource();
}

}  // namespace

cameo_status cameo_quantize(const cameo_model* model, const char* samples, const char* image, const char* settings_json,
                            cameo_model** out, char** report) {
  return cameo_quantize_with(model, samples, image, settings_json, nullptr, 0, out, report);
}
cameo_status cameo_quantize_with(const cameo_model* model, const char* samples, const char* image,
                                 const char* settings_json, const cameo_kernel* kernels, size_t kernel_count,
                                 cameo_model** out, char** report) {
  return make_reported(out, report, [&] {
    const Model& from = need(model, "the model").model;
    QuantizeSettings how = quantize_settings(settings(settings_json));
    how.kernels = kernels_of(kernels, kernel_count);
    return quantize(from, samples_of(from, &need(samples, "the name of the samples"), image), how);
  });
}
cameo_status cameo_quantize_weights(const cameo_model* model, const char* samples, const char* image,
                                    const char* settings_json, cameo_model** out, char** report) {
  return make_reported(out, report, [&] {
    const Model& from = need(model, "the model").model;
    WeightSettings how = weight_settings(settings(settings_json));
    return quantize_weights(from, how, samples_of(from, samples, image));
  });
}
cameo_status cameo_convert_weights(const cameo_model* model, const char* form, cameo_model** out, char** report) {
  return make_reported(out, report,
                       [&] { return convert_weights(need(model, "the model").model, &need(form, "the form")); });
}
cameo_status cameo_quantize_dynamic(const cameo_model* model, const char* settings_json, cameo_model** out,
                                    char** report) {
  return make_reported(out, report, [&] {
    return quantize_dynamic(need(model, "the model").model, dynamic_settings(settings(settings_json)));
  });
}
