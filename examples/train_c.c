/* Prepares data and trains.
 *   train_c CONFIG.yaml [SECTION.KEY=VALUE ...]
 */
#include <nmt.h>
#include <stdio.h>
#include <string.h>

static int on_event(void* user, const nmt_record* event) {
  (void)user;
  if (strcmp(nmt_record_kind(event), "validation") == 0)
    printf("validation at update %.0f: loss %.4f%s\n", nmt_record_number(event, "update"),
           nmt_record_number(event, "loss"), nmt_record_number(event, "is_best") > 0 ? " (best)" : "");
  return 1;
}

static int fail(void) {
  fprintf(stderr, "train_c: %s\n", nmt_error_message());
  return 1;
}

int main(int argc, char** argv) {
  nmt_options* options = nmt_options_new();
  nmt_record* result = NULL;
  int i;
  if (argc < 2) {
    fprintf(stderr, "usage: train_c CONFIG.yaml [SECTION.KEY=VALUE ...]\n");
    return 2;
  }
  nmt_reuse_freed_tensors();
  for (i = 2; i < argc; ++i)
    if (nmt_options_set(options, "set", argv[i]) != NMT_OK) return fail();
  if (nmt_prepare(argv[1], options, NULL, NULL, NULL, NULL) != NMT_OK) return fail();
  if (nmt_train(argv[1], options, on_event, NULL, NULL, NULL, &result) != NMT_OK) return fail();
  printf("%.0f updates; best model: %s\n", nmt_record_number(result, "updates"),
         nmt_record_text(result, "best_model"));
  nmt_record_free(result);
  nmt_options_free(options);
  return 0;
}
