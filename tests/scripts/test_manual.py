"""packaging/manual: pages and completions of made-up programs. tests/system/packages reads those of the build, and runs the
shells."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "packaging/manual"))

import completions
import descriptions
import man_pages


def option(names, value="", choices=(), **more):
    return {"names": names, "value": value, "choices": list(choices), "help": "", "group": "Options", "default": "",
            "environment": "", "several_times": False, "several_values": False, **more}


def program(name, options, **more):
    return {"name": name, "summary": "train a model", "position": 1, "description": "Trains.", "usage": "[OPTIONS]",
            "examples": "", "exit_status": "", "arguments": [], "environment": [], "options": options, **more}


CONFIGURATION = {
    "sections": [{"name": "model", "help": "the network"}],
    "options": [{"section": "model", "name": "norm", "help": "where norms stand", "type": "text", "default": "post",
                 "limits": "one of post, pre", "choices": ["post", "pre"], "is_text": False, "may_change": True}]}
TRAIN = program("nmt-train", [
    option(["-c", "--config"], "CONFIG", help="configuration file"),
    option(["--device"], "auto|cpu", ["auto", "cpu"], help="where", group="Machine"),
    option(["--form"], "NAME", ["a", "b"], help="how", group="Machine", default="a", environment="NMT_FORM"),
    option(["--set"], "SECTION.KEY=VALUE", help="the user's [own]: option; often", several_times=True)],
    examples="Examples:\n  nmt-train -c a.yaml", configuration=CONFIGURATION)
PREPRO = program("nmt-prepro", [option(["--side"], "NAME", ["source", "target"])], position=0)
EDITION = man_pages.Edition("1.2.3", "2026-11-24")


class Roff(unittest.TestCase):
    def test_escapes_what_roff_would_take_for_its_own(self):
        self.assertEqual(man_pages.roff(r"--set a\b 'c' ~/x ^"), r"\-\-set a\eb \(aqc\(aq \(ti/x \(ha")
        self.assertEqual(man_pages.bold("-c"), r"\fB\-c\fR")

    def test_lines_are_short_and_none_is_taken_for_a_request(self):
        self.assertEqual(man_pages.lines(""), "")
        self.assertEqual(man_pages.lines("a  b\nc"), "a b c\n")
        self.assertEqual(man_pages.lines(".po files"), "\\&.po files\n")
        forty = 40 * "x"
        self.assertEqual(man_pages.lines(f"{forty} .y {forty}"), f"{forty} .y\n{forty}\n")
        self.assertEqual(man_pages.lines(76 * "x" + " .y"), 76 * "x" + "\n\\&.y\n")


class ManPages(unittest.TestCase):
    def test_a_page_says_what_the_program_says(self):
        page = man_pages.program_page(TRAIN, [PREPRO, TRAIN], EDITION)
        for part in ('.TH NMT\\-TRAIN 1 2026-11-24 "nmt 1.2.3"', ".SH NAME\nnmt\\-train \\- train a model",
                     ".TP\n\\fB\\-c\\fR, \\fB\\-\\-config\\fR \\fICONFIG\\fR\nconfiguration file.\n",
                     ".SS Machine\n.TP\n\\fB\\-\\-device\\fR \\fIauto|cpu\\fR\nwhere.\n", "how. One of a, b. Default: a.\n",
                     ".SH ENVIRONMENT\n.TP\n\\fBNMT_FORM\\fR\nAs \\-\\-form.\n",
                     ".SH EXAMPLES\n.nf\nnmt\\-train \\-c a.yaml\n.fi\n", ".BR nmt\\-config (5)\n",
                     "Stopped by SIGINT or SIGTERM."):
            self.assertIn(part, page)
        self.assertNotIn(".BR nmt\\-train (1)", page)  # no page points to itself
        own = man_pages.program_page({**TRAIN, "exit_status": "17: other fields."}, [TRAIN], EDITION)
        self.assertIn(".SH EXIT STATUS\n17: other fields.\n.SH", own)

    def test_the_front_door_names_every_command(self):
        page = man_pages.front_door_page([PREPRO, TRAIN], EDITION)
        for name in ("prepro", "train"):
            self.assertIn(f".TP\n\\fB{name}\\fR\n", page)
            self.assertIn(f".BR nmt\\-{name} (1) ,\n", page)

    def test_the_configuration_has_every_option(self):
        page = man_pages.configuration_page([TRAIN], EDITION)
        self.assertIn(".SH MODEL\nthe network.\n.TP\n\\fBmodel.norm\\fR\nwhere norms stand. (text; default post;", page)
        self.assertIn("may change when a\nrun is resumed)", page)


class Completions(unittest.TestCase):
    def test_the_name_of_a_value_says_what_it_is(self):
        for value, kind in (("", "none"), ("TEXT", "text"), ("FILE", "file"), ("FILE...", "file"), ("DIR|FILE", "file"),
                            ("CONFIG", "file"), ("DIR", "folder"), ("SECTION.KEY=VALUE", "setting")):
            self.assertEqual(descriptions.value_kind(option(["--x"], value)), kind, value)
        self.assertEqual(descriptions.value_kind(option(["--x"], "NAME", ["a", "b"])), "words")

    def test_help_is_cut_at_its_first_pause(self):
        self.assertEqual(descriptions.short_help({"help": "how it is; and more"}), "how it is")
        self.assertEqual(descriptions.short_help({"help": 60 * "x" + " " + 60 * "y"}), 60 * "x" + " ...")

    def test_quotes_are_escaped(self):
        self.assertIn(r"[the user'\''s \[own\]\: option]:SECTION.KEY=VALUE:_nmt_setting'", completions.zsh([TRAIN]))
        self.assertIn(r"-d 'the user\'s [own]: option'", completions.fish_program(TRAIN, [TRAIN]))

    def test_settings_are_the_options_of_the_configuration(self):
        self.assertEqual(completions.settings([PREPRO, TRAIN]), [("model.norm", ["post", "pre"], False)])
        self.assertIn("model.norm) echo 'words post pre' ;;", completions.bash([PREPRO, TRAIN]))


if __name__ == "__main__":
    unittest.main()
