/* Translates standard input line by line, as the lines come.
 *   translate_c MODEL_DIRECTORY [NAME=VALUE ...]
 */
#include <nmt.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 1 << 16 };

static int next_line(void* user, const char** line, size_t* length) {
  char* buffer = user;
  if (!fgets(buffer, LONGEST, stdin)) return 0;
  *line = buffer;
  *length = strcspn(buffer, "\n");
  return 1;
}

static int print(void* user, int64_t number, const nmt_translations* translations) {
  (void)user;
  (void)number;
  return puts(nmt_translations_best(translations, 0, NULL)) < 0 || fflush(stdout) != 0 ? 0 : 1;
}

static int fail(void) {
  fprintf(stderr, "translate_c: %s\n", nmt_error_message());
  return 1;
}

int main(int argc, char** argv) {
  static char buffer[LONGEST];
  nmt_options* options = nmt_options_new();
  nmt_translator* translator = NULL;
  nmt_status status;
  int i;
  if (argc < 2) {
    fprintf(stderr, "usage: translate_c MODEL_DIRECTORY [NAME=VALUE ...]\n");
    return 2;
  }
  for (i = 2; i < argc; ++i) {
    char* value = strchr(argv[i], '=');
    if (value) *value++ = '\0';
    if (nmt_options_set(options, argv[i], value ? value : "true") != NMT_OK) return fail();
  }
  if (nmt_translator_new(argv[1], NULL, &translator) != NMT_OK) return fail();
  if (nmt_options_set_int(options, "block_lines", 1) != NMT_OK) return fail();
  status = nmt_translator_stream(translator, next_line, buffer, print, NULL, options, NULL, NULL);
  nmt_translator_free(translator);
  nmt_options_free(options);
  return status == NMT_OK ? 0 : fail();
}
