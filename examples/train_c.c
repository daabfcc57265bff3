/* Prepares data and trains.
 *   train_c REQUEST      such as '{"configuration": "mine.yaml", "settings": ["training.max_updates=1000"]}'
 */
#include <nmt.h>
#include <stdio.h>
#include <string.h>

/* Events are JSON: a program would read them with the library that it has for that. */
static int on_event(void* user, const char* event) {
  (void)user;
  if (strstr(event, "\"event\":\"validation\"")) puts(event);
  return 0;
}

static int fail(void) {
  fprintf(stderr, "train_c: %s\n", nmt_error());
  return 1;
}

int main(int argc, char** argv) {
  char* result = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: train_c '{\"configuration\": \"CONFIG.yaml\"}'\n");
    return 2;
  }
  if (nmt_prepare(argv[1], NULL, NULL, NULL) != NMT_OK) return fail();
  if (nmt_train(argv[1], on_event, NULL, &result) != NMT_OK) return fail();
  puts(result);
  nmt_free(result);
  return 0;
}
