/* A kernel of one's own: runs a model with my.domain::Scale on 1, 2, 3, ... and prints what comes out.
 *
 * usage: kernel MODEL.onnx      a model with one f32 input of two axes, and my.domain::Scale nodes */
#include <stdio.h>
#include <stdlib.h>

#include "cameo/c.h"

static int scale(void* user, cameo_kernel_call* call) {
  cameo_array x;
  if (cameo_kernel_input(call, 0, &x) != CAMEO_OK || !x.dtype || x.dtype[0] != 'f' || x.dtype[1] != '3') {
    cameo_kernel_fail(call, "the input has to be f32");
    return 1;
  }
  float* y = cameo_kernel_output(call, 0, "f32", x.shape, x.rank);
  if (!y) return 1;
  const float by = (float)cameo_kernel_number(call, "by", 1.0);
  for (size_t i = 0; i < x.size / sizeof(float); ++i) y[i] = by * ((const float*)x.data)[i];
  ++*(int*)user;
  return 0;
}

int main(int argc, char** argv) {
  int calls = 0, status = 1;
  const cameo_kernel kernels[] = {{"my.domain::Scale", scale, &calls}};
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[] = {2, 3};
  const cameo_array input = {NULL, "f32", shape, 2, numbers, sizeof numbers};
  cameo_model* model = NULL;
  cameo_session* session = NULL;
  cameo_results* results = NULL;
  cameo_array y;
  if (argc == 2 && cameo_load(argv[1], &model) == CAMEO_OK &&
      cameo_open_session_with(model, NULL, kernels, 1, &session) == CAMEO_OK &&
      cameo_run(session, &input, 1, &results) == CAMEO_OK && cameo_result(results, 0, &y) == CAMEO_OK) {
    for (size_t i = 0; i < y.size / sizeof(float); ++i) printf("%g ", ((const float*)y.data)[i]);
    printf("(%d calls)\n", calls);
    status = 0;
  } else {
    fputs(argc == 2 ? cameo_last_findings() : "usage: kernel MODEL.onnx\n", stderr);
  }
  cameo_release_results(results);
  cameo_release_session(session);
  cameo_release_model(model);
  return status;
}
