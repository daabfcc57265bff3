"""Writes wmt.xml beside this file, in the form of WMT's test sets since 2021, and wmt.json: the pairs of source and reference A
that sacrebleu 2.6.0 reads of it.

    .deps/dev/bin/python tests/text/golden/make_wmt_xml_golden.py     (with lxml)
"""

import json
import pathlib

from sacrebleu.dataset.wmt_xml import WMTXMLDataset

# Two references and a system; ids that are not in order; a segment that nobody has translated; a test suite; entities, white
# space and a comment.
XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest">
  <collection id="general">
    <doc origlang="de" id="a.1" domain="news">
      <src lang="de">
        <p>
          <seg id="2">Das Haus ist alt &amp; sch&#246;n.</seg>
          <seg id="1">  Es regnet.
            Wieder.  </seg>
        </p>
        <p><seg id="10">Zehn &lt; elf.</seg><seg id="3">Ohne Referenz.</seg></p>
      </src>
      <!-- <ref lang="en" translator="Z"><p><seg id="1">Not this one.</seg></p></ref> -->
      <ref lang="en" translator="A">
        <p>
          <seg id="1">It is raining. Again.</seg>
          <seg id="2">The house is old &amp; beautiful.</seg>
        </p>
        <p><seg id="3"></seg><seg id="10">Ten &lt; eleven.</seg></p>
      </ref>
      <ref lang="en" translator="B">
        <p>
          <seg id="1">It rains. Once more.</seg>
          <seg id="2">It is an old and beautiful house.</seg>
        </p>
        <p><seg id="3"/><seg id="10">10 &lt; 11.</seg></p>
      </ref>
      <hyp system="online-x" language="en">
        <p>
          <seg id="1">It rains again.</seg>
          <seg id="2">The house is old and nice.</seg>
        </p>
        <p><seg id="3">Without reference.</seg><seg id="10">Ten.</seg></p>
      </hyp>
    </doc>
    <doc id="suite" origlang="de" testsuite="words">
      <src lang="de"><p><seg id="1">Nicht gezählt.</seg></p></src>
      <hyp system="online-x" language="en"><p><seg id="1">Not counted.</seg></p></hyp>
    </doc>
    <doc id="b.2" origlang="de" domain="news">
      <src lang="de"><p><seg id="1">Ende.</seg></p></src>
      <ref lang="en" translator="B"><p><seg id="1">Finis.</seg></p></ref>
      <ref lang="en" translator="A"><p><seg id="1">The end.</seg></p></ref>
      <hyp system="online-x" language="en"><p><seg id="1">End.</seg></p></hyp>
    </doc>
  </collection>
</dataset>
"""


def main():
    folder = pathlib.Path(__file__).parent
    (folder / "wmt.xml").write_text(XML, encoding="utf-8")
    with open(folder / "wmt.xml", "rb") as file:
        fields = WMTXMLDataset._unwrap_wmt21_or_later(file)
    clean = WMTXMLDataset._clean
    pairs = [[clean(source), clean(reference)] for source, reference in zip(fields["src"], fields["ref:A"])]
    (folder / "wmt.json").write_text(json.dumps(pairs, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
