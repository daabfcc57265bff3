"""T5 of Hugging Face transformers: models with random weights come in, and both toolkits say the same.

    t5_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

Runs itself under the Python of scripts/interop_python.sh; exit code 77 where there is none.
"""

import json
import shutil

import interop_support as support

support.rerun_in_environment()

import sentencepiece  # noqa: E402
import transformers  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from t5_models import END, PREFIX, SHAPES, TASK, TASKS, UNKNOWN, T5Case  # noqa: E402

FINE_TUNING = """
data: {{dir: {work}/prepared, train1: {corpus}/valid.en, train2: {corpus}/valid.de, eval1: {corpus}/test.en,
       eval2: {corpus}/test.de}}
training: {{init_from: {model}, batch_size: 16, num_epochs: 0, max_updates: 5, lr: {lr}, warmup_steps: 1,
            checkpoint_every: 0}}
validation: {{every: 5, max_sentences: 10, samples: 0}}
run: {{dir: {work}/run, threads: 1}}
"""


class Import(T5Case):
    def test_says_what_transformers_says(self):
        for name in SHAPES:
            with self.subTest(shape=name):
                for folder in ("t5", "imported"):
                    shutil.rmtree(self.folder / folder, ignore_errors=True)
                t5 = self.t5(name)
                lines = self.sources(47)
                lines += [" ".join(lines[i:i + 12]) for i in (0, 12, 24)]  # farther than the last bucket begins
                self.assertGreater(min(len(t5.encode(line)) for line in lines[-3:]), 150)
                found = t5.translate(lines[:20])
                self.assertGreater(len(set(found)), 10, found)  # the source matters
                self.compare(self.import_it(t5.folder), t5, lines)

    def test_ids_are_those_of_its_tokenizer(self):
        t5 = self.t5()
        tokenizer = transformers.T5Tokenizer(vocab=[(t5.pieces.id_to_piece(id_), t5.pieces.get_score(id_))
                                                    for id_ in range(t5.pieces.get_piece_size())])
        model = self.import_it(t5.folder)
        ours = sentencepiece.SentencePieceProcessor(model_file=str(model / "spm.model"))
        rows = load_file(model / "model.safetensors")["embedding"] * 48 ** 0.5
        for line in self.sources(20) + ["  two  spaces ", "\u2603 unknown"]:
            ids = tokenizer(PREFIX + line)["input_ids"]
            self.assertEqual(ids, t5.encode(line), line)
            expected = t5.model.shared.weight.detach()[ids[:-1]]  # the same vectors enter the encoder
            found = rows[ours.encode(PREFIX + line)]
            self.assertEqual(found.shape, expected.shape, line)
            self.assertLess(float((found - expected).abs().max()), 1e-5, line)

    def test_the_printed_example(self):
        """A line of text with a task and max_length 40, as the one-line pipeline is printed with."""
        t5 = self.t5()
        model = self.import_it(t5.folder)
        lines, translations = t5.finished(self.sources(20), **{**TASK, "max_length": 40})
        self.assertGreater(len(lines), 5)
        for line, expected in zip(lines, translations):
            found = self.programs.must("nmt-translate", "-q", "-m", model, "--text", line, "--max-length", 39,
                                       "--precision", "fp32", "--format", "json")
            self.assertEqual(json.loads(found), [{"translation_text": expected}])

    def test_generates_with_the_settings_of_the_task(self):
        t5 = self.t5("1.1")
        model = self.import_it(t5.folder)
        decoding = json.loads((model / "model.json").read_text())["configuration"]["decoding"]
        self.assertEqual((decoding["beam_size"], decoding["max_length"], decoding["stopping"]), (4, 79, "first"))
        lines, expected = t5.finished(self.sources(50), **TASK)
        self.assertGreater(len(lines), 25)
        found = self.programs.must("nmt-translate", "-q", "-m", model, "--precision", "fp32",
                                   text="".join(line + "\n" for line in lines)).splitlines()
        self.assert_same(found, expected)

    def test_what_a_text_cannot_say(self):
        t5 = self.t5()
        model = self.import_it(t5.folder)
        # A sentinel in a text is text, and one in a translation is not written.
        ours = load_file(model / "model.safetensors")["embedding"]
        theirs = t5.model.shared.weight.detach()
        self.assertEqual(len(ours), len(theirs) + 1)  # our <pad> is none of theirs
        self.assertTrue(ours[0].eq(0).all())
        for row, (id_, row_of) in enumerate(((1, UNKNOWN), (2, 0), (3, END))):
            self.assertTrue(ours[id_].mul(48 ** 0.5).sub(theirs[row_of]).abs().max() < 1e-5, row)
        text = "<extra_id_0>"
        found = self.programs.translate(model, [text], 1)
        self.assertEqual(found, t5.translate([text]))

    def test_pickled_weights_are_the_same(self):
        for shape in ("1.0", "1.1"):
            files = {}
            for kind in (False, "zip", "legacy"):
                files[kind] = (self.import_it(self.t5(shape, pickled=kind).folder) / "model.safetensors").read_bytes()
                for folder in ("t5", "imported"):
                    shutil.rmtree(self.folder / folder)
            self.assertEqual(files["zip"], files[False])
            self.assertEqual(files["legacy"], files[False])

    def test_one_table_that_is_not_divided_and_two_that_are(self):
        """What transformers 5 writes and reads: scale_decoder_outputs; the file says whether the tables are one."""
        t5 = self.t5()
        lines = self.sources(20)
        t5.model.config.scale_decoder_outputs = False
        t5.save()
        self.compare(self.import_it(t5.folder, name="one"), t5, lines)
        shutil.rmtree(t5.folder)
        t5 = self.t5("1.1")
        t5.model.config.scale_decoder_outputs = True
        t5.save()
        self.compare(self.import_it(t5.folder, name="two"), t5, lines)


class Prefix(T5Case):
    def prefix_of(self, model):
        return json.loads((model / "model.json").read_text())["tokenizer"].get("source_prefix", "")

    def languages_of(self, model):
        settings = json.loads((model / "model.json").read_text())["tokenizer"]
        return settings["source_language"], settings["target_language"]

    def test_is_that_of_the_task(self):
        t5 = self.t5()
        model = self.import_it(t5.folder)
        self.assertEqual(self.prefix_of(model), PREFIX)
        self.assertEqual(self.languages_of(model), ("en", "de"))
        self.assertIn(PREFIX, self.programs.must("nmt-export", "--inspect", model))
        model = self.import_it(t5.folder, "--task", "summarization", name="other")
        self.assertEqual(self.prefix_of(model), "summarize: ")
        lines = self.sources(10)
        least = {"min_length": TASKS["summarization"]["min_length"]}
        self.assertEqual(self.programs.translate(model, lines, 1), t5.translate(lines, "summarize: ", **least))
        model = self.import_it(t5.folder, "--source-prefix", "say it in Greek: ", name="own")
        self.assertEqual(self.programs.translate(model, lines, 1), t5.translate(lines, "say it in Greek: "))
        model = self.import_it(t5.folder, "--source-prefix", "", name="none")
        self.assertEqual(self.programs.translate(model, lines, 1), t5.translate(lines, ""))

    def test_is_asked_for_where_there_are_several_translations(self):
        t5 = self.t5(tasks={**TASKS, "translation_en_to_fr": {"prefix": "translate English to French: "}})
        self.refused(t5.folder, "translation_en_to_de, translation_en_to_fr", "--task")
        self.refused(t5.folder, "translation_en_to_ro", "summarization, translation_en_to_de",
                     options=("--task", "translation_en_to_ro"))
        model = self.import_it(t5.folder, "--task", "translation_en_to_fr")
        self.assertEqual((self.prefix_of(model), self.languages_of(model)),
                         ("translate English to French: ", ("en", "fr")))

    def test_is_not_needed(self):
        t5 = self.t5(tasks=None)
        model = self.import_it(t5.folder)
        self.assertEqual((self.prefix_of(model), self.languages_of(model)), ("", ("src", "tgt")))
        lines = self.sources(10)
        self.assertEqual(self.programs.translate(model, lines, 1), t5.translate(lines, ""))
        self.refused(t5.folder, "--task x", "names no tasks", options=("--task", "x"))

    def test_stands_before_each_part_of_a_line(self):
        t5 = self.t5()
        model = self.import_it(t5.folder)
        first, second = self.sources(2)
        longest = max(len(t5.encode(line)) - 1 for line in (first, second))
        found = self.programs.translate(model, [f"{first} {second}"], 1, "--max-source-length", longest)
        self.assertEqual(found, [" ".join(t5.translate([first, second])).strip()])
        done = self.programs.call("nmt-translate", "-m", model, "--max-source-length", 5, text="a\n")
        self.assert_refused(done, PREFIX, "leaves no room")
        self.assertEqual(self.programs.translate(model, ["", "  ", "\u200b"], 1), ["", "", ""])


    def test_makes_no_model_that_cannot_be_read(self):
        t5 = self.t5()
        for prefix in ("a\tb", "a\x01", "a\nb"):
            self.refused(t5.folder, "data.source_prefix", "control character", options=("--source-prefix", prefix))
        shutil.rmtree(t5.folder)
        t5 = self.t5(tasks={"translation_en_to_de": {"prefix": "a\nb", "num_beams": 4}})
        self.refused(t5.folder, "data.source_prefix", "control character")
        for task, *parts in (({"prefix": 1}, "prefix is no text"), ({"num_beams": 2.7}, "num_beams is no whole number"),
                             ({"max_length": "x"}, "max_length"), ({"length_penalty": -1}, "length_penalty is no number")):
            shutil.rmtree(t5.folder)
            t5 = self.t5(tasks={"translation_en_to_de": task})
            self.refused(t5.folder, "task_specific_params.translation_en_to_de", *parts)


class Further(T5Case):
    def test_fine_tuning_keeps_the_prefix(self):
        model = self.import_it(self.t5("1.1").folder)
        tuned = self.folder / "run" / "checkpoints" / "00000005"

        def train(lr):
            config = self.folder / "tune.yaml"
            config.write_text(FINE_TUNING.format(work=self.folder, corpus=self.programs.corpus(), model=model, lr=lr))
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            for program in ("nmt-prepro", "nmt-train"):
                self.programs.must(program, "-c", config)

        train(1e-12)  # a step that rounds to none
        lines = self.sources(20)
        before = self.programs.translate(model, lines, 1)
        self.assertEqual(self.programs.translate(tuned, lines, 1), before)
        train(1e-2)
        self.assertNotEqual(self.programs.translate(tuned, lines, 1), before)
        out = self.folder / "plain"
        self.programs.must("nmt-export", "-q", "-m", tuned, "--to", "safetensors", "-o", out)
        self.assertEqual(json.loads((out / "config.json").read_text())["data"]["source_prefix"], PREFIX)

    def test_leaves_only_under_our_names(self):
        model = self.import_it(self.t5().folder)
        for way in ("marian", "ctranslate2"):
            out = self.folder / way
            done = self.programs.call("nmt-export", "-m", model, "--to", way, "-o", out)
            self.assert_refused(done, "model.positions: t5", "--to safetensors", output=out)
        text = self.programs.must("nmt-export", "--inspect", model)
        self.assertIn("positions t5", text)


class Damage(T5Case):
    def test_settings_that_do_not_fit(self):
        t5 = self.t5("1.1")
        config = t5.folder / "config.json"
        whole = config.read_text()
        for changes, *parts in (
                ({"model_type": "umt5"}, "model_type is 'umt5'; only t5 and mt5"),
                ({"model_type": "marian"}, "use --from marian"),
                ({"feed_forward_proj": "gated-tanh"}, "feed_forward_proj", "'gated-tanh'"),
                ({"feed_forward_proj": "relu"}, "DenseReluDense.wi.weight is missing"),
                ({"d_model": 1 << 40}, "d_model"), ({"d_model": None}, "d_model"), ({"d_model": 24}, "d_kv"),
                ({"d_kv": 9}, "d_kv is 9: 6 heads of this size do not fit into d_model 48"),
                ({"num_heads": 4}, "is [48, 48], the model's configuration asks for [32, 48]"),
                ({"num_layers": 3}, "encoder.block.2", "is missing"), ({"num_layers": 0}, "num_layers"),
                ({"num_decoder_layers": 3}, "decoder.block.2", "is missing"), ({"d_ff": "96"}, "d_ff"),
                ({"relative_attention_num_buckets": 16}, "relative_attention_bias.weight"),
                ({"relative_attention_num_buckets": 2}, "relative_attention_num_buckets"),
                ({"layer_norm_epsilon": "x"}, "layer_norm_epsilon"), ({"layer_norm_epsilon": -1}, "layer_norm_epsilon"),
                ({"dropout_rate": 1}, "dropout_rate"), ({"vocab_size": 300}, "shared.weight"),
                ({"num_layers": 1}, "tensor encoder.block.1.", "belongs to no part"),
                ({"num_decoder_layers": 1}, "tensor decoder.block.1.", "belongs to no part"),
                ({"tie_word_embeddings": 0}, "tie_word_embeddings is neither true nor false"),
                ({"feed_forward_proj": 1}, "feed_forward_proj is no text"),
                ({"eos_token_id": [1, 2]}, "eos_token_id"), ({"eos_token_id": 0}, "not three"),
                ({"eos_token_id": 5000}, "beyond"), ({"pad_token_id": 5000}, "beyond")):
            with self.subTest(changes=changes):
                t5.configure(**changes)
                self.refused(t5.folder, *parts)
                config.write_text(whole)
        generation = t5.folder / "generation_config.json"
        generation.write_text(json.dumps({"decoder_start_token_id": "x"}))
        self.refused(t5.folder, "generation_config.json: decoder_start_token_id is no whole number")
        generation.unlink()
        for text in ("{", "[]", ""):
            config.write_text(text)
            self.refused(t5.folder, "config.json")
        config.unlink()
        self.refused(t5.folder, "config.json")
        self.refused(self.folder / "nowhere", "no such folder")
        done = self.programs.call("nmt-export", "--from", "marian", "-i", t5.folder, "-o", self.folder / "refused")
        self.assert_refused(done, "config.json")

    def test_a_t5_is_no_marian(self):
        folder = self.t5().folder
        out = self.folder / "refused"
        done = self.programs.call("nmt-export", "--from", "marian", "-i", folder, "-o", out)
        self.assert_refused(done, "model_type is 't5'", "use --from t5", output=out)
        done = self.programs.call("nmt-export", "--from", "marian", "-i", folder, "-o", out, "--task", "x")
        self.assert_refused(done, "--task: is for --from t5", output=out)

    def test_weights_and_pieces(self):
        t5 = self.t5()
        weights = t5.folder / "model.safetensors"
        state = load_file(weights)

        def save(changed):
            from safetensors.torch import save_file
            save_file({name: tensor.contiguous() for name, tensor in changed.items()}, weights)

        for name in ("shared.weight", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                     "decoder.block.1.layer.1.EncDecAttention.o.weight", "decoder.final_layer_norm.weight",
                     "encoder.block.1.layer.1.DenseReluDense.wi.weight"):
            with self.subTest(name=name):
                save({other: tensor for other, tensor in state.items() if other != name})
                # Any of four names may hold the one table.
                self.refused(t5.folder, "embed_tokens" if name == "shared.weight" else name, "is missing")
                save({**state, name: state[name][:-1]})
                self.refused(t5.folder, name, "the model's configuration asks for")
        save({**state, "encoder.block.0.layer.0.lora.weight": state["shared.weight"].clone()})
        self.refused(t5.folder, "tensor encoder.block.0.layer.0.lora.weight belongs to no part")
        # The first T5s have it, and transformers does not read it.
        save({**state, "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight":
              state["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"].clone()})
        shutil.rmtree(self.import_it(t5.folder))
        save(state)
        good = weights.read_bytes()
        weights.write_bytes(good[:-1])
        self.refused(t5.folder, "model.safetensors", "damaged")
        weights.unlink()
        self.refused(t5.folder, "neither model.safetensors nor pytorch_model.bin")
        weights.write_bytes(good)
        pieces = t5.folder / "spiece.model"
        whole = pieces.read_bytes()
        for bytes_ in (whole[:len(whole) // 2], b"", b"\xff" * 100):
            pieces.write_bytes(bytes_)
            self.refused(t5.folder, "spiece.model")
        pieces.unlink()
        self.refused(t5.folder, "spiece.model")


if __name__ == "__main__":
    support.main(__doc__)
