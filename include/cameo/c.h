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
 * defaults. A handle that was released, or is of another kind, is answered with CAMEO_USE, use.handle; release it
 * only when no thread uses it any more. */
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
#define CAMEO_C_VERSION 5
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
/* As `cameo export` does: a model that breaks ONNX's rules is CAMEO_WRONG, and nothing is written. Notes and warnings
 * as JSON lines, or NULL. */
CAMEO_API cameo_status cameo_save_checked(const cameo_model* model, const char* path, const char* settings_json,
                                          char** json_lines);
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
/* Weights in 8, 4 or 2 bits: {"bits": 4, "block": 32}. samples and image as above; both may be NULL, and the report. */
CAMEO_API cameo_status cameo_quantize_weights(const cameo_model* model, const char* samples, const char* image,
                                              const char* settings_json, cameo_model** out, char** report);
/* Weights in few bits from one form into the other: "nbits" or "qdq". The report may be NULL. */
CAMEO_API cameo_status cameo_convert_weights(const cameo_model* model, const char* form, cameo_model** out,
                                             char** report);
/* 8-bit weights, data rounded while the model runs: {"target": "generic"}. The report may be NULL. */
CAMEO_API cameo_status cameo_quantize_dynamic(const cameo_model* model, const char* settings_json, cameo_model** out,
                                              char** report);
/* Types and sizes of every value: {"strict": false}. */
CAMEO_API cameo_status cameo_infer(const cameo_model* model, const char* settings_json, cameo_model** out);
/* What is wrong, empty: nothing: {"types": true, "strict": false}. */
CAMEO_API cameo_status cameo_check(const cameo_model* model, const char* settings_json, char** json_lines);
/* What deployment targets do not take, as `cameo lint --json` prints it: {"targets": ["tensorrt"], "ignore": []}. */
CAMEO_API cameo_status cameo_lint(const cameo_model* model, const char* settings_json, char** report);
/* The cures applied, each verified. The report may be NULL. */
CAMEO_API cameo_status cameo_fix_lint(const cameo_model* model, const char* settings_json, cameo_model** out,
                                      char** report);
/* As a deployment target wants it: {"target": "tensorrt", "detections": "score=0.3", "sizes": {"batch": 1}}. The report
 * has the steps and lint's findings, and may be NULL. */
CAMEO_API cameo_status cameo_prepare(const cameo_model* model, const char* settings_json, cameo_model** out,
                                     char** report);
/* Opset 0: the model's own. The report tells what half precision did. */
CAMEO_API cameo_status cameo_convert(const cameo_model* model, int opset, const char* settings_json, cameo_model** out,
                                     char** report);
CAMEO_API cameo_status cameo_extract(const cameo_model* model, const char* const* from, size_t from_count,
                                     const char* const* to, size_t to_count, cameo_model** out);
/* Functions of the C++ Editor with their arguments, in order: [["rename", "input.1", "x"], ["set_dim", "x", 0, "n"]].
 * docs/edit.md lists them. */
CAMEO_API cameo_status cameo_edit(const cameo_model* model, const char* changes_json, cameo_model** out);
CAMEO_API cameo_status cameo_merge(const cameo_model* first, const cameo_model* second, const char* settings_json,
                                   cameo_model** out);
CAMEO_API cameo_status cameo_diff(const cameo_model* first, const cameo_model* second, char** json);
/* Where rules applied and nearly did; rule NULL: all of them, opset 0: the model's own. */
CAMEO_API cameo_status cameo_explain(const cameo_model* model, const char* rule, int opset, char** json);
CAMEO_API cameo_status cameo_rules(char** json); /* [{"name": "gelu", "kind": "rounding"}, ...] */
/* PyTorch's operators, and what they become: {"pattern": "*conv*", "opset": 17, "missing": false}; NULL: all that are
 * supported. */
CAMEO_API cameo_status cameo_operators(const char* query_json, char** json);
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
/* Memory of the caller's for an output: as many bytes as the result has. */
typedef struct cameo_output {
  const char* name;
  void* data;
  size_t size;
} cameo_output;
/* The same, with outputs that are written into the caller's memory, whose results then have no data of their own; the
 * list may be empty. profile, where it is not NULL, gets the steps of the run as JSON for chrome://tracing and
 * Perfetto. */
CAMEO_API cameo_status cameo_run_into(const cameo_session* session, const cameo_array* inputs, size_t count,
                                      const cameo_output* outputs, size_t output_count, char** profile,
                                      cameo_results** out);
CAMEO_API size_t cameo_result_count(const cameo_results* results);
CAMEO_API cameo_status cameo_result(const cameo_results* results, size_t i,
                                    cameo_array* out); /* valid until they are released */
CAMEO_API void cameo_release_results(cameo_results* results);

/* Kernels of your own, for operators that Cameo does not know ("my.domain::Op") or in place of Cameo's ("Gelu"). */
typedef struct cameo_kernel_call cameo_kernel_call; /* valid only while the kernel runs */
/* Not 0: it failed; cameo_kernel_fail says why. Several threads may call it at once. */
typedef int (*cameo_kernel_function)(void* user, cameo_kernel_call* call);
typedef struct cameo_kernel {
  const char* op;
  cameo_kernel_function run;
  void* user; /* handed to every call; has to outlive the session */
} cameo_kernel;
CAMEO_API size_t cameo_kernel_input_count(const cameo_kernel_call* call);
/* dtype NULL: an optional input that is left out. Refused for strings and sequences. */
CAMEO_API cameo_status cameo_kernel_input(const cameo_kernel_call* call, size_t i, cameo_array* out);
/* Single numbers; `otherwise` where the attribute is not set or is something else. */
CAMEO_API int64_t cameo_kernel_integer(const cameo_kernel_call* call, const char* attribute, int64_t otherwise);
CAMEO_API double cameo_kernel_number(const cameo_kernel_call* call, const char* attribute, double otherwise);
CAMEO_API const char* cameo_kernel_attributes(
    const cameo_kernel_call* call); /* all, as a JSON object; tensors left out */
CAMEO_API size_t cameo_kernel_output_count(const cameo_kernel_call* call);
/* Memory for an output, zeros at first. NULL where there is no such output, dtype or shape: cameo_last_findings. */
CAMEO_API void* cameo_kernel_output(cameo_kernel_call* call, size_t i, const char* dtype, const int64_t* shape,
                                    size_t rank);
CAMEO_API void cameo_kernel_fail(cameo_kernel_call* call, const char* why);
CAMEO_API cameo_status cameo_open_session_with(const cameo_model* model, const char* settings_json,
                                               const cameo_kernel* kernels, size_t kernel_count, cameo_session** out);
CAMEO_API cameo_status cameo_verify_with(const cameo_model* model, const cameo_model* reference,
                                         const char* settings_json, const cameo_kernel* kernels, size_t kernel_count,
                                         char** report);
CAMEO_API cameo_status cameo_quantize_with(const cameo_model* model, const char* samples, const char* image,
                                           const char* settings_json, const cameo_kernel* kernels, size_t kernel_count,
                                           cameo_model** out, char** report);

/* Pictures and pages (docs/page.md). A page is CAMEO_USE, use.page, in a build that holds none; pictures need none. */
CAMEO_API cameo_status cameo_picture(const cameo_model* model, int open_all, char** svg);
/* One HTML file that shows the model under this name without a server. */
CAMEO_API cameo_status cameo_page(const cameo_model* model, const char* name, char** html);
/* The page behind an address of this machine. Settings: {"files": ["net.onnx"], "port": 0, "gone_seconds": 20}. The
 * model, which may be NULL, is shown first, under this name. */
typedef struct cameo_view cameo_view;
CAMEO_API cameo_status cameo_open_view(const cameo_model* model, const char* name, const char* settings_json,
                                       cameo_view** out);
CAMEO_API const char* cameo_view_address(const cameo_view* view);
CAMEO_API cameo_status cameo_run_view(cameo_view* view); /* until cameo_stop_view, or until the page has been closed */
CAMEO_API void cameo_stop_view(cameo_view* view);        /* any thread may call it */
CAMEO_API void cameo_release_view(cameo_view* view);     /* not while it runs */

/* What the page talks to: a request as JSON in, a reply as JSON out; large data beside it, as numbered blobs. One call
 * at a time. The status is CAMEO_OK also where the reply says {"ok": false, ...}. */
typedef struct cameo_desk cameo_desk;
typedef struct cameo_blobs cameo_blobs;
typedef struct cameo_blob {
  const void* data;
  size_t size;
} cameo_blob;
CAMEO_API cameo_status cameo_open_desk(const char* settings_json,
                                       cameo_desk** out);               /* {"files": [...], "threads": 0, "out": ""} */
CAMEO_API cameo_status cameo_allow(cameo_desk* desk, const char* path); /* one more of the files */
CAMEO_API cameo_status cameo_offer(cameo_desk* desk, const char* name, const cameo_model* model);
CAMEO_API cameo_status cameo_ask(cameo_desk* desk, const char* request_json, const cameo_blob* given,
                                 size_t given_count, char** reply_json, cameo_blobs** results); /* results: or NULL */
CAMEO_API size_t cameo_blob_count(const cameo_blobs* blobs);
CAMEO_API cameo_status cameo_blob_at(const cameo_blobs* blobs, size_t i, cameo_blob* out); /* valid until released */
CAMEO_API void cameo_release_blobs(cameo_blobs* blobs);
CAMEO_API void cameo_release_desk(cameo_desk* desk);

/* For later calls of this thread: what they may take, {"seconds": 10, "memory_bytes": 1000000000, "turns": 100000,
 * "steps": 100000}; seconds count from here on. Beyond it they end with CAMEO_WRONG, budget.*. NULL: no limits. */
CAMEO_API cameo_status cameo_limit(const char* limits_json);
/* For later calls of this thread: called now and then by those that take long. Not 0 stops the call with
 * budget.interrupted; `all` may grow, and is 0 while it is not known. NULL: nothing is called. */
typedef int (*cameo_progress_function)(void* user, const char* what, uint64_t done, uint64_t all);
CAMEO_API void cameo_watch(cameo_progress_function progress, void* user);
/* Makes every call that is under way, in any thread, end with budget.interrupted; until cameo_resume. */
CAMEO_API void cameo_interrupt(void);
CAMEO_API void cameo_resume(void);

#ifdef __cplusplus
}
#endif

#endif
