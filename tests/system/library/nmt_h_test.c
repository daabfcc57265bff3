/* nmt.h as a program in C sees it: c_test MODEL_DIRECTORY < SOURCE. Prints the translations; ends with 1 at the first
 * thing that is not as it should be. */
#include <nmt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition, nmt_error()); \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

enum { LONGEST = 10000 };

int main(int argc, char** argv) {
  static char options[LONGEST], line[LONGEST];
  nmt_translator* translator = (nmt_translator*)&translator;
  char *quoted, *answer = NULL;
  EXPECT(argc == 2);
  EXPECT(strcmp(nmt_version(), "") != 0);
  EXPECT(strcmp(nmt_error(), "") == 0);
  EXPECT(nmt_translator_create("{\"models\": [\"no/such/folder\"]}", &translator) == NMT_USER_ERROR);
  EXPECT(translator == NULL);
  EXPECT(strstr(nmt_error(), "no/such/folder") != NULL);
  EXPECT(strchr(nmt_error(), '\n') == NULL);
  quoted = nmt_quoted(argv[1], strlen(argv[1]));
  EXPECT(quoted != NULL);
  sprintf(options, "{\"models\": [%s], \"threads\": 1, \"beam_size\": 3}", quoted);
  nmt_free(quoted);
  EXPECT(nmt_translator_create(options, &translator) == NMT_OK);
  while (fgets(line, LONGEST, stdin)) {
    char* translation = NULL;
    line[strcspn(line, "\n")] = '\0';
    EXPECT(nmt_translator_translate_text(translator, line, &translation) == NMT_OK);
    puts(translation);
    nmt_free(translation);
  }
  EXPECT(nmt_translator_translate(translator, "{\"texts\": [\"a\"], \"n_best\": 2}", NULL, NULL, &answer) == NMT_OK);
  EXPECT(strstr(answer, "\"alternatives\"") != NULL);
  nmt_free(answer);
  nmt_translator_free(translator);
  return 0;
}
