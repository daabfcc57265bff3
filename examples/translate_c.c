/* Translates standard input line by line, as the lines come.
 *   translate_c OPTIONS      such as '{"models": ["runs/mine/best"], "beam_size": 4}'
 */
#include <nmt.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 1 << 16 };

static int fail(void) {
  fprintf(stderr, "translate_c: %s\n", nmt_error());
  return 1;
}

int main(int argc, char** argv) {
  static char line[LONGEST];
  nmt_translator* translator = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: translate_c '{\"models\": [\"DIR\"]}'\n");
    return 2;
  }
  if (nmt_translator_create(argv[1], &translator) != NMT_OK) return fail();
  while (fgets(line, LONGEST, stdin)) {
    char* translation = NULL;
    line[strcspn(line, "\n")] = '\0';
    if (nmt_translator_translate_text(translator, line, &translation) != NMT_OK) return fail();
    puts(translation);
    fflush(stdout);
    nmt_free(translation);
  }
  nmt_translator_free(translator);
  return 0;
}
