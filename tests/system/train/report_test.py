"""Trains a small model in two sessions and looks at its report.html as a person does, in headless Chromium.

    report_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

The run stays in FOLDER and is used again as long as nmt-train is older. Python's standard library only; what needs
Chromium is skipped, with a notice, where there is none. Pictures of the page are left in FOLDER.
"""

import argparse
import html
import html.parser
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PATIENCE = 300  # seconds for what takes a few; the machine may be busy
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

CONFIG = """
data:
  dir: {work}/prepared
  train1: {work}/corpus/train.de
  train2: {work}/corpus/train.en
  eval1: {work}/corpus/valid.de
  eval2: {work}/corpus/valid.en
  vocab_size: 600
  character_coverage: 1
model: {{d_model: 64, d_ff: 128, num_blocks: 2, num_heads: 2, norm: pre, dropout_rate: 0.1}}
training: {{batch_type: tokens, batch_size: 1024, num_epochs: 0, max_updates: 200, lr: 0.005, warmup_steps: 50,
            checkpoint_every: 50, ema_decay: 0.9}}
validation: {{every: 50, max_sentences: 100, attention_samples: 2}}
run: {{dir: {work}/run, log_every: 5, threads: 1, histograms: true}}
"""

# Moves the pointer over the first curve and over a weight, and says in the page's title what it then shows.
POINTER = """
<script>
addEventListener('load', () => {
  const move = (element, type, x, y) => element.dispatchEvent(
    new PointerEvent(type, {bubbles: true, clientX: x, clientY: y}));
  const chart = document.querySelector('.chart'), svg = chart.querySelector('svg'), box = svg.getBoundingClientRect();
  move(svg, 'pointermove', box.left + box.width / 2, box.top + box.height / 2);
  const map = document.querySelector('figure.attention'), [layer, head] = map.querySelectorAll('select');
  const opacities = () => [...map.querySelectorAll('rect')].map((cell) => cell.getAttribute('fill-opacity')).join();
  const mean = opacities();
  layer.value = '0';
  layer.dispatchEvent(new Event('change'));
  head.value = '1';
  head.dispatchEvent(new Event('change'));
  move(map.querySelector('rect'), 'pointerenter', 0, 0);
  document.body.dataset.shown = JSON.stringify({tip: chart.querySelector('.tip').textContent,
    heads: head.options.length, layers: layer.options.length, changed: opacities() !== mean,
    weight: map.querySelector('output').textContent, lit: map.querySelectorAll('.lit').length});
});
</script>
"""

# The page in a frame that may not run scripts, and what is drawn there.
WITHOUT_SCRIPT = """<!DOCTYPE html>
<iframe sandbox="allow-same-origin" style="width: 1200px; height: 4000px" srcdoc="{}"></iframe>
<script>
addEventListener('load', () => {{
  const page = document.querySelector('iframe').contentDocument;
  document.body.dataset.shown = JSON.stringify({{
    menus: page.querySelectorAll('select').length,
    curves: [...page.querySelectorAll('.plot path')].map((path) => path.getBoundingClientRect().width),
    weights: page.querySelectorAll('.map rect').length,
    tip: page.querySelector('.map rect title').textContent, text: page.body.innerText}});
}});
</script>
"""


class Page(html.parser.HTMLParser):
    """What a page holds, as far as the tests look at it."""

    def __init__(self, text):
        super().__init__()
        self.paths, self.images, self.tags, self.ids, self.outside, self.shown = [], [], [], set(), [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes.get("class", "")))
        self.ids.add(attributes.get("id"))
        if tag == "path":
            self.paths.append(attributes["d"])
        for name in ("src", "href", "xlink:href"):
            if not attributes.get(name, "#").startswith(("#", "data:")):
                self.outside.append(attributes[name])
        if tag == "body" and "data-shown" in attributes:
            self.shown = json.loads(attributes["data-shown"])

    def count(self, tag, of_class):
        return sum(1 for found in self.tags if found == (tag, of_class))


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_directory = ARGUMENTS.work / "run"
        cls.report = cls.run_directory / "report.html"
        train = ARGUMENTS.programs / "nmt-train"
        if cls.report.exists() and cls.report.stat().st_mtime > train.stat().st_mtime:
            return
        shutil.rmtree(ARGUMENTS.work, ignore_errors=True)
        ARGUMENTS.work.mkdir(parents=True)
        config = ARGUMENTS.work / "config.yaml"
        config.write_text(CONFIG.format(work=ARGUMENTS.work))
        maker = SOURCE / "data_scripts" / "make_builtin_corpus.py"
        for command in ([sys.executable, "-B", str(maker), "--out", str(ARGUMENTS.work / "corpus"), "--pairs", "5000"],
                        [str(ARGUMENTS.programs / "nmt-prepro"), "-c", str(config)]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        cls.train(config, stop_after=r"checkpoint .*\b100 is saved")
        cls.train(config)

    @classmethod
    def train(cls, config, stop_after=None):
        """A session, to its end or killed once its log has such a line."""
        command = [str(ARGUMENTS.programs / "nmt-train"), "-c", str(config)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            for line in process.stderr:
                if stop_after and re.search(stop_after, line):
                    process.kill()
        if process.returncode != (-signal.SIGKILL if stop_after else 0):
            raise RuntimeError(f"nmt-train: exit code {process.returncode}")

    def browse(self, page, *options):
        """(what a browser makes of a page, what its console said)."""
        if not BROWSER:
            self.skipTest("no chromium: apt-get install chromium")
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run(
                [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom",
                 "--virtual-time-budget=5000", f"--user-data-dir={profile}", *options, page.as_uri()],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Page(done.stdout), [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    def assert_curves_are_drawn(self, page):
        self.assertGreaterEqual(page.count("svg", "plot"), 8)
        points = sorted(len(re.findall("[ML]", path)) for path in page.paths)
        self.assertGreaterEqual(points[-1], 40, "200 updates, a point each 5")
        self.assertGreaterEqual(points[0], 4, "a validation each 50")

    def test_page_stands_alone_and_has_all_parts(self):
        page = Page(self.report.read_text())
        self.assertEqual(page.outside, [])
        self.assertLessEqual({"curves", "validations", "translations", "attention", "configuration", "environment"},
                             page.ids)
        self.assert_curves_are_drawn(page)
        self.assertEqual(page.count("figure", "attention"), 2)
        self.assertEqual(page.count("p", "score"), 20)

    def test_report_is_that_of_the_whole_run(self):
        sessions = [json.loads(line) for line in (self.run_directory / "sessions.jsonl").read_text().splitlines()]
        self.assertEqual([session["update"] for session in sessions], [0, 100])
        self.assertEqual([session.get("end") for session in sessions], [None, "200 updates done"])
        text = self.report.read_text()
        updates = re.findall(r'"name":"training","points":\[\[([0-9.]+),.*?,\[([0-9.]+),[^]]*\]\]\}', text)[0]
        self.assertEqual(updates, ("5.0", "200.0"))

    def test_browser_draws_it_without_a_complaint(self):
        copy = ARGUMENTS.work / "pointer.html"
        copy.write_text(self.report.read_text().replace("</body>", POINTER + "</body>"))
        page, console = self.browse(copy)
        self.assertEqual(console, [])
        self.assert_curves_are_drawn(page)
        self.assertRegex(page.shown["tip"], r"^update \d+training \d\.\d+")
        self.assertEqual((page.shown["layers"], page.shown["heads"]), (2, 3))
        self.assertTrue(page.shown["changed"])
        self.assertRegex(page.shown["weight"], r"^\S+ ← \S+ \d\.\d\d$")
        self.assertEqual(page.shown["lit"], 2)

    def test_page_can_be_read_without_a_script(self):
        frame = ARGUMENTS.work / "without_script.html"
        frame.write_text(WITHOUT_SCRIPT.format(html.escape(self.report.read_text())))
        page, _ = self.browse(frame)
        shown = page.shown
        self.assertEqual(shown["menus"], 0, "only a script makes them")
        self.assertGreaterEqual(len(shown["curves"]), 10)
        self.assertGreater(min(shown["curves"]), 100, "pixels")
        self.assertGreater(shown["weights"], 50)
        self.assertRegex(shown["tip"], r"^\S+ ← \S+ \d\.\d\d$")
        self.assertIn("Worst", shown["text"])

    def test_page_fits_desktop_and_phone(self):
        for name, size in (("desktop", "1280,4000"), ("phone", "500,4000")):
            picture = ARGUMENTS.work / f"{name}.png"
            picture.unlink(missing_ok=True)
            copy = ARGUMENTS.work / f"{name}.html"
            copy.write_text(self.report.read_text().replace("</body>", """<script>
                document.body.dataset.shown = JSON.stringify(
                  {wide: document.documentElement.scrollWidth, room: document.documentElement.clientWidth});
                </script></body>"""))
            page, _ = self.browse(copy, f"--window-size={size}", f"--screenshot={picture}")
            self.assertLessEqual(page.shown["wide"], page.shown["room"], "sideways scrolling")
            self.assertGreater(picture.stat().st_size, 20000)

    def test_report_alone_is_written_again(self):
        before = self.report.read_text()
        self.report.unlink()
        done = subprocess.run([str(ARGUMENTS.programs / "nmt-train"), "--report-only", str(self.run_directory)],
                              stdout=subprocess.PIPE, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.report}\n"))
        self.assertEqual(self.report.read_text(), before)

    def test_several_seeds_and_two_runs_on_one_page(self):
        runs = ARGUMENTS.work / "seeds"
        shutil.rmtree(runs, ignore_errors=True)
        command = [str(ARGUMENTS.programs / "nmt-train"), "-c", str(ARGUMENTS.work / "config.yaml"), "--run-dir",
                   str(runs), "--set", "training.max_updates=4", "--set", "validation.every=2", "--seeds", "7,8"]
        table = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True).stdout
        rows = [line.split() for line in table.splitlines()]
        self.assertEqual([row[0] for row in rows], ["run", "seed-7", "seed-8", "mean", "deviation"])
        losses = [float(row[2]) for row in rows[1:4]]
        self.assertNotEqual(losses[0], losses[1])
        self.assertAlmostEqual(losses[2], (losses[0] + losses[1]) / 2, delta=1e-4)
        for seed in (7, 8):
            self.assertIn(f"seed: {seed}\n", (runs / f"seed-{seed}" / "config.yaml").read_text())
        again = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True).stdout
        self.assertEqual(again, table)
        done = subprocess.run([command[0], "--compare", str(self.run_directory), str(runs / "seed-7")],
                              stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True)
        self.assertEqual(done.stdout, f"{runs}/seed-7/comparison.html\n")
        page = (runs / "seed-7" / "comparison.html").read_text()
        for part in ("<h1>run and seed-7</h1>", "seed-7: training", "Sentences that differ most", "is better in",
                     "<code>run.seed</code>"):
            self.assertIn(part, page)

    def test_what_is_no_run_is_refused(self):
        done = subprocess.run([str(ARGUMENTS.programs / "nmt-train"), "--report-only", str(ARGUMENTS.work / "corpus")],
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no run directory (it has no config.yaml)", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--work", type=lambda path: pathlib.Path(path).resolve(), required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
