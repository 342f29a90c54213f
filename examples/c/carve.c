/* From a PyTorch archive to a simplified, verified ONNX file, in C.
 *
 *   cc carve.c $(pkg-config --cflags --libs cameo) -o carve
 *   ./carve net.pt '{"inputs": ["x=f32[batch,6]"]}' net.onnx */
#include <cameo/c.h>
#include <stdio.h>
#include <stdlib.h>

static void need(cameo_status status, const char* what) {
  if (status == CAMEO_OK) return;
  fprintf(stderr, "%s:\n%s", what, cameo_last_findings());
  exit((int)status);
}

int main(int count, char** arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: carve ARCHIVE SETTINGS OUT.onnx\n");
    return 2;
  }
  cameo_model *archive = NULL, *exported = NULL, *small = NULL;
  char *report = NULL, *described = NULL;
  need(cameo_load(arguments[1], &archive), "loading");
  need(cameo_export(archive, arguments[2], &exported), "exporting");
  need(cameo_simplify(exported, "{\"check\": 1}", &small, NULL), "simplifying");
  need(cameo_verify(small, exported, "{\"random\": 1}", &report), "verifying");
  need(cameo_describe(small, &described), "describing");
  need(cameo_save(small, arguments[3], NULL), "saving");
  printf("%s\n%s\n", report, described);
  cameo_release_text(described);
  cameo_release_text(report);
  cameo_release_model(small);
  cameo_release_model(exported);
  cameo_release_model(archive);
  return 0;
}
