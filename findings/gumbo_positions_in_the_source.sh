#!/usr/bin/env bash
# Gumbo 0.10.1 (Debian 12, libgumbo-dev 0.10.1+dfsg-5): the places in the source that a parse gives its nodes do not
# divide the page. Who wants to change the texts of a page and leave every other byte alone cannot build on them.
#
# What one expects of original_tag, original_end_tag and original_text: each tag of the page belongs to one node, and a
# text's bytes are its own. Seen:
# - an end tag that nothing opened lies within the bytes of the text around it: `<p>a</div>b` has one text of 2
#   characters whose source has 8 bytes;
# - an element that ends because another does gets that one's end tag as its own: `</table>` is the end tag of td, tr,
#   tbody and table;
# - a formatting element that is closed out of order is there twice, and both have the same start tag.
# Exit code 0: still so. 1: it has changed. 77: the packages cannot be had.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq libgumbo-dev=0.10.1+dfsg-5 2>apt.log || { cat apt.log >&2; exit 77; }
dpkg -x libgumbo-dev_*.deb .
cat >places.c <<'C'
#include <gumbo.h>
#include <stdio.h>

static long place(GumboStringPiece piece, const char* page) { return piece.data ? (long)(piece.data - page) : -1; }

static void show(const GumboNode* node, const char* page) {
  if (node->type == GUMBO_NODE_TEXT) {
    printf(" text '%s' of %zu bytes at %ld;", node->v.text.text, node->v.text.original_text.length,
           place(node->v.text.original_text, page));
  } else if (node->type == GUMBO_NODE_ELEMENT) {
    const GumboElement* element = &node->v.element;
    if (element->tag != GUMBO_TAG_HTML && element->tag != GUMBO_TAG_HEAD && element->tag != GUMBO_TAG_BODY)
      printf(" %s %ld %ld;", gumbo_normalized_tagname(element->tag), place(element->original_tag, page),
             place(element->original_end_tag, page));
    for (unsigned i = 0; i < element->children.length; ++i) show(element->children.data[i], page);
  }
}

int main(void) {
  const char* pages[] = {"<p>a</div>b", "<table><tr><td>y</table>", "<b>one <i>two</b> three</i>"};
  for (int i = 0; i < 3; ++i) {
    GumboOutput* output = gumbo_parse(pages[i]);
    printf("%s:", pages[i]);
    show(output->root, pages[i]);
    puts("");
    gumbo_destroy_output(&kGumboDefaultOptions, output);
  }
}
C
gcc -Iusr/include places.c usr/lib/*/libgumbo.a -o places
./places | tee seen
cat >expected <<'TEXT'
<p>a</div>b: p 0 -1; text 'ab' of 8 bytes at 3;
<table><tr><td>y</table>: table 0 16; tbody -1 16; tr 7 16; td 11 16; text 'y' of 1 bytes at 15;
<b>one <i>two</b> three</i>: b 0 13; text 'one ' of 4 bytes at 3; i 7 13; text 'two' of 3 bytes at 10; i 7 23; text ' three' of 6 bytes at 17;
TEXT
diff expected seen
