/* Cameo for C, and for every language that can call C. No exceptions; handles are opaque; settings and answers that are
 * more than a number are JSON, with the names that the C++ settings have.
 *
 *   cameo_model* model = NULL;
 *   if (cameo_load("net.onnx", &model) != CAMEO_OK) { puts(cameo_last_findings()); return 1; }
 *   cameo_model* small = NULL;
 *   cameo_simplify(model, "{\"skip\": [\"fuse-batch-norm\"]}", &small, NULL);
 *   cameo_save(small, "small.onnx", NULL);
 *   cameo_release_model(small);
 *   cameo_release_model(model);
 *
 * Every function may be called by several threads at once. What a function gives through a pointer belongs to the
 * caller, who releases it; after a status that is not CAMEO_OK such pointers are NULL. Settings may be NULL: the
 * defaults. */
#ifndef CAMEO_C_H
#define CAMEO_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define CAMEO_API __declspec(dllexport)
#else
#define CAMEO_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when a function is added; the first digit of the version when one changes. */
#define CAMEO_C_VERSION 2
CAMEO_API int cameo_c_version(void);
CAMEO_API const char* cameo_version(void); /* "0.1.0" */

/* The exit codes of the command. */
typedef enum cameo_status {
  CAMEO_OK = 0,
  CAMEO_WRONG = 1, /* the model, or what was asked of it */
  CAMEO_USE = 2,   /* the call itself: settings, names, null pointers */
  CAMEO_FILE = 3,  /* a file that is damaged or something else */
  CAMEO_BUG = 4
} cameo_status;

/* Of this thread's last call that failed: findings, a JSON object a line, as `cameo --json` prints them. Valid until
 * the thread's next call. */
CAMEO_API const char* cameo_last_findings(void);

typedef struct cameo_model cameo_model;
typedef struct cameo_session cameo_session;

CAMEO_API void cameo_release_model(cameo_model* model); /* NULL is allowed, here and below */
CAMEO_API void cameo_release_session(cameo_session* session);
CAMEO_API void cameo_release_text(char* text);

/* Models: .onnx, .onnxtxt, TorchScript and torch.export archives. */
CAMEO_API cameo_status cameo_load(const char* path, cameo_model** out);
CAMEO_API cameo_status cameo_load_bytes(const void* data, size_t size, cameo_model** out);
CAMEO_API cameo_status cameo_save(const cameo_model* model, const char* path, const char* settings_json);
CAMEO_API cameo_status cameo_bytes(const cameo_model* model, const char* settings_json, char** out, size_t* size);
/* {"archive": false, "opsets": {"ai.onnx": 18}, "producer": "...", "inputs": [{"name": "x", "type": "f32[b,3]"}],
 * "outputs": [...], "metadata": {...}, "nodes": [{"name": "...", "op": "Conv", "domain": "", "inputs": ["x", "w"],
 * "outputs": ["y"]}], "weights": [...]} */
CAMEO_API cameo_status cameo_describe(const cameo_model* model, char** json);
CAMEO_API cameo_status cameo_text(const cameo_model* model, char** text);
CAMEO_API cameo_status cameo_findings(const cameo_model* model,
                                      char** json_lines); /* notes and warnings of how it was made */
CAMEO_API cameo_status cameo_stats(const cameo_model* model, char** json);
/* A weight's bytes, row-major; its type and shape are in cameo_describe. */
CAMEO_API cameo_status cameo_weight(const cameo_model* model, const char* name, char** bytes, size_t* size);

/* What the command's verbs do. `report`, where it is not NULL, gets JSON that has to be released. */
CAMEO_API cameo_status cameo_export(const cameo_model* archive, const char* settings_json, cameo_model** out);
CAMEO_API cameo_status cameo_simplify(const cameo_model* model, const char* settings_json, cameo_model** out,
                                      char** report);
/* 8-bit integers. samples: as `cameo quantize --calibrate` takes them; image: as `--image`, or NULL. The report may be
 * NULL. */
CAMEO_API cameo_status cameo_quantize(const cameo_model* model, const char* samples, const char* image,
                                      const char* settings_json, cameo_model** out, char** report);
CAMEO_API cameo_status cameo_infer(const cameo_model* model, cameo_model** out);
CAMEO_API cameo_status cameo_check(const cameo_model* model, char** json_lines); /* empty: nothing is wrong */
/* What deployment targets do not take, as `cameo lint --json` prints it: {"targets": ["tensorrt"], "ignore": []}. */
CAMEO_API cameo_status cameo_lint(const cameo_model* model, const char* settings_json, char** report);
/* The cures applied, each verified. The report may be NULL. */
CAMEO_API cameo_status cameo_fix_lint(const cameo_model* model, const char* settings_json, cameo_model** out,
                                      char** report);
CAMEO_API cameo_status cameo_convert(const cameo_model* model, int opset, const char* settings_json, cameo_model** out);
CAMEO_API cameo_status cameo_extract(const cameo_model* model, const char* const* from, size_t from_count,
                                     const char* const* to, size_t to_count, cameo_model** out);
/* Functions of the C++ Editor with their arguments, in order: [["rename", "input.1", "x"], ["set_dim", "x", "0", "n"]]
 */
CAMEO_API cameo_status cameo_edit(const cameo_model* model, const char* changes_json, cameo_model** out);
CAMEO_API cameo_status cameo_merge(const cameo_model* first, const cameo_model* second, const char* settings_json,
                                   cameo_model** out);
CAMEO_API cameo_status cameo_diff(const cameo_model* first, const cameo_model* second, char** json);
/* Where rules applied and nearly did; rule NULL: all of them, opset 0: the model's own. */
CAMEO_API cameo_status cameo_explain(const cameo_model* model, const char* rule, int opset, char** json);
CAMEO_API cameo_status cameo_rules(char** json);     /* [{"name": "gelu", "kind": "rounding"}, ...] */
CAMEO_API cameo_status cameo_operators(char** json); /* PyTorch's operators, and what they become */
CAMEO_API cameo_status cameo_verify(const cameo_model* model, const cameo_model* reference, const char* settings_json,
                                    char** report);

/* Running. */
typedef struct cameo_array {
  const char* name;  /* of an input: NULL means by its place */
  const char* dtype; /* "f32", "i64", ... */
  const int64_t* shape;
  size_t rank;
  const void* data; /* of inputs: read where it lies */
  size_t size;      /* bytes; checked against dtype and shape */
} cameo_array;

CAMEO_API cameo_status cameo_open_session(const cameo_model* model, const char* settings_json, cameo_session** out);
typedef struct cameo_results cameo_results;
CAMEO_API cameo_status cameo_run(const cameo_session* session, const cameo_array* inputs, size_t count,
                                 cameo_results** out);
CAMEO_API size_t cameo_result_count(const cameo_results* results);
CAMEO_API cameo_status cameo_result(const cameo_results* results, size_t i,
                                    cameo_array* out); /* valid until they are released */
CAMEO_API void cameo_release_results(cameo_results* results);

/* Makes every call that is under way, in any thread, end with budget.interrupted; until cameo_resume. */
CAMEO_API void cameo_interrupt(void);
CAMEO_API void cameo_resume(void);

#ifdef __cplusplus
}
#endif

#endif
