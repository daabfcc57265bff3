/* nmt.h as a program in C sees it: c_test MODEL_DIRECTORY < SOURCE. Prints the translations; ends with 1 at the first
 * thing that is not as it should be. */
#include <nmt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                                  \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition, nmt_error_message()); \
      exit(1);                                                                                             \
    }                                                                                                      \
  } while (0)

enum { MOST = 1000, LONGEST = 10000 };

static size_t read_lines(char** lines) {
  static char buffer[LONGEST];
  size_t count = 0;
  while (count < MOST && fgets(buffer, LONGEST, stdin)) {
    buffer[strcspn(buffer, "\n")] = '\0';
    lines[count] = malloc(strlen(buffer) + 1);
    EXPECT(lines[count] != NULL);
    strcpy(lines[count++], buffer);
  }
  return count;
}

static void test_errors(const char* model) {
  nmt_translator* translator = (nmt_translator*)&translator;
  nmt_options* options = nmt_options_new();
  EXPECT(strcmp(nmt_error_message(), "") == 0);
  EXPECT(nmt_translator_new("no/such/folder", NULL, &translator) == NMT_USER_ERROR);
  EXPECT(translator == NULL);
  EXPECT(strstr(nmt_error_message(), "no/such/folder") != NULL);
  EXPECT(strchr(nmt_error_message(), '\n') == NULL);
  EXPECT(nmt_options_set(options, "threadz", "1") == NMT_OK);
  EXPECT(nmt_translator_new(model, options, &translator) == NMT_USER_ERROR);
  EXPECT(strstr(nmt_error_message(), "threadz: no such option here") != NULL);
  nmt_options_free(options);
}

static void test_translating(const char* model) {
  char* lines[MOST];
  const size_t count = read_lines(lines);
  nmt_options* options = nmt_options_new();
  nmt_translator* translator = NULL;
  nmt_translations* translations = NULL;
  size_t i, rows = 0, columns = 0, pairs = 0;
  EXPECT(nmt_options_set_int(options, "threads", 1) == NMT_OK);
  EXPECT(nmt_translator_new(model, options, &translator) == NMT_OK);
  nmt_options_free(options);
  options = nmt_options_new();
  EXPECT(nmt_options_set_int(options, "beam_size", 3) == NMT_OK);
  EXPECT(nmt_options_set_int(options, "n_best", 2) == NMT_OK);
  EXPECT(nmt_options_set_double(options, "length_penalty", 0.6) == NMT_OK);
  EXPECT(nmt_options_set(options, "attention", "true") == NMT_OK);
  EXPECT(nmt_options_set(options, "alignment", "true") == NMT_OK);
  EXPECT(nmt_translator_translate(translator, (const char* const*)lines, NULL, count, options, NULL, &translations) ==
         NMT_OK);
  nmt_translator_free(translator);
  nmt_options_free(options);
  EXPECT(nmt_translations_count(translations) == count);
  for (i = 0; i < count; ++i) {
    EXPECT(nmt_translations_alternatives(translations, i) == (lines[i][0] ? 2 : 0));
    puts(nmt_translations_best(translations, i, NULL));
    free(lines[i]);
  }
  EXPECT(nmt_translations_attention(translations, 0, 0, 0, &rows, &columns) != NULL);
  EXPECT(rows > 0 && columns > 0);
  EXPECT(nmt_translations_alignment(translations, 0, 0, &pairs) != NULL && pairs > 0);
  nmt_translations_free(translations);
}

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  EXPECT(strcmp(nmt_version(), "") != 0);
  test_errors(argv[1]);
  test_translating(argv[1]);
  return 0;
}
