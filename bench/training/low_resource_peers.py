#!/usr/bin/env python3
"""JoeyNMT or OpenNMT-py on a small corpus, for so many minutes, and the BLEU of its best checkpoint. Prints a Markdown row.

    bench/training/low_resource_peers.py --peers DIR --data data/iwslt14_20k --prepared prepared/iwslt14_de_en_20k
                                         --peer joeynmt|opennmt [--minutes 150] [--threads 1] [--device cpu]
                                         [--every 500] [--programs build] [--work DIR]

DIR has the environment `venv` of the other toolkits. --data holds {train,valid,test}.{de,en}; --prepared is what nmt-prepro
made of them: the peer trains on the same pieces. JoeyNMT has the settings of its own recipe for IWSLT 2014 (6 + 6 layers
of 256, dropout 0.3, a rate of 0.0003 that falls on a plateau), OpenNMT-py the same model with its schedule `noam`. Both
take batches of 4,096 tokens and label smoothing 0.1, and validate every 500 updates (--every). The test set is translated
once, by beam search of 5, after the time is over; BLEU is of the tokens as they stand, lower-cased. An epoch counts every
pair.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]

# JoeyNMT 2.3 names an argument that today's PyTorch no longer has, and a function that SentencePiece 0.2.2 no longer has. That
# one would restrict the pieces to those of the vocabulary, which has all of them here.
JOEYNMT = """
import sys
import sentencepiece
import torch.optim.lr_scheduler as schedulers

class Plateau(schedulers.ReduceLROnPlateau):
    def __init__(self, *arguments, verbose=False, **named):
        super().__init__(*arguments, **named)

schedulers.ReduceLROnPlateau = Plateau
if not hasattr(sentencepiece.SentencePieceProcessor, "SetVocabulary"):
    sentencepiece.SentencePieceProcessor.SetVocabulary = lambda self, pieces: None
from joeynmt.__main__ import main
sys.exit(main())
"""


def joeynmt_configuration(options):
    side = """
    {side}:
      lang: {language}
      max_length: 100
      lowercase: false
      normalize: false
      level: bpe
      voc_file: {work}/vocab.txt
      tokenizer_type: sentencepiece
      tokenizer_cfg: {{model_file: {model}}}"""
    sides = "".join(side.format(side=name, language=language, work=options.work, model=options.prepared / "spm.model")
                    for name, language in (("src", "de"), ("trg", "en")))
    stack = """
  {stack}:
    type: transformer
    num_layers: 6
    num_heads: 4
    embeddings: {{embedding_dim: 256, scale: true, dropout: 0.0}}
    hidden_size: 256
    ff_size: 1024
    dropout: 0.3
    layer_norm: pre
    activation: relu"""
    stacks = "".join(stack.format(stack=name) for name in ("encoder", "decoder"))
    return f"""name: low_resource
joeynmt_version: 2.3.0
model_dir: {options.work}/model
use_cuda: {options.device == 'cuda'}
fp16: false
random_seed: 42
data:
    train: {options.data}/train
    dev: {options.data}/valid
    test: {options.data}/test
    dataset_type: plain{sides}
    special_symbols: {{unk_token: <unk>, unk_id: 0, pad_token: <pad>, pad_id: 1, bos_token: <s>, bos_id: 2, eos_token: </s>, eos_id: 3}}
testing:
    n_best: 1
    beam_size: 5
    beam_alpha: 1.0
    batch_size: 4096
    batch_type: token
    max_output_length: 100
    eval_metrics: [bleu]
    sacrebleu_cfg: {{tokenize: none}}
training:
    optimizer: adamw
    adam_betas: [0.9, 0.999]
    normalization: tokens
    scheduling: plateau
    patience: 5
    decrease_factor: 0.7
    learning_rate: 0.0003
    learning_rate_min: 0.00000001
    weight_decay: 0.0
    label_smoothing: 0.1
    loss: crossentropy
    batch_size: 4096
    batch_type: token
    batch_multiplier: 1
    epochs: 1000
    updates: 1000000
    validation_freq: {options.every}
    logging_freq: {max(1, options.every // 10)}
    early_stopping_metric: bleu
    overwrite: true
    shuffle: true
    num_workers: 0
    print_valid_sents: []
    keep_best_ckpts: 1
model:
  initializer: xavier_uniform
  bias_initializer: zeros
  init_gain: 1.0
  embed_initializer: xavier_uniform
  embed_init_gain: 1.0
  tied_embeddings: true
  tied_softmax: true{stacks}
"""


def opennmt_configuration(options):
    work = options.work
    cards = "world_size: 1\ngpu_ranks: [0]\n" if options.device == "cuda" else ""
    return f"""save_data: {work}/d
src_vocab: {work}/vocab.txt
tgt_vocab: {work}/vocab.txt
share_vocab: true
data:
  corpus_1: {{path_src: {work}/train.de, path_tgt: {work}/train.en, transforms: []}}
  valid: {{path_src: {work}/valid.de, path_tgt: {work}/valid.en, transforms: []}}
save_model: {work}/model
train_steps: 1000000
valid_steps: {options.every}
save_checkpoint_steps: {options.every}
report_every: 100
seed: 1
num_workers: 0
{cards}bucket_size: 29000
batch_type: tokens
batch_size: 4096
normalization: tokens
accum_count: [1]
optim: adam
adam_beta2: 0.98
learning_rate: 1.0
decay_method: noam
warmup_steps: 1000
label_smoothing: 0.1
dropout: [0.3]
attention_dropout: [0.1]
encoder_type: transformer
decoder_type: transformer
enc_layers: 6
dec_layers: 6
heads: 4
hidden_size: 256
word_vec_size: 256
transformer_ff: 1024
share_embeddings: true
share_decoder_embeddings: true
position_encoding: true
"""


def environment(options):
    threads = str(options.threads)
    cards = {} if options.device == "cuda" else {"CUDA_VISIBLE_DEVICES": ""}
    return {**os.environ, **cards, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads,
            "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}  # OpenNMT-py's checkpoints hold its options


def train(command, options):
    """Until the time is over; the minutes that it took and what it printed."""
    began = time.monotonic()
    log = options.work / "training.log"
    with open(log, "w") as output:
        process = subprocess.Popen(list(map(str, command)), env=environment(options), stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(options.minutes * 60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = 0
    text = log.read_text(errors="replace")
    if code != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {code}\n{text[-2000:]}")
    return (time.monotonic() - began) / 60, text


def pipe(command, source, target, options):
    with open(source, "rb") as text, open(target, "wb") as output:
        subprocess.run(list(map(str, command)), stdin=text, stdout=output, env=environment(options), check=True)


def pieces_of(options):
    """The pieces of the model, without the four special symbols."""
    lines = (options.prepared / "spm.vocab").read_text().splitlines()
    return [line.split("\t")[0] for line in lines[4:]]


def joeynmt(options):
    (options.work / "vocab.txt").write_text("\n".join(["<unk>", "<pad>", "<s>", "</s>", *pieces_of(options)]) + "\n")
    configuration = options.work / "config.yaml"
    configuration.write_text(joeynmt_configuration(options))
    program = [options.peers / "venv/bin/python", "-c", JOEYNMT]
    minutes, text = train([*program, "train", configuration, "--skip-test"], options)
    updates = max(map(int, re.findall(r"Step:\s+(\d+)", text)), default=0)
    pipe([*program, "translate", configuration], options.data / "test.de", options.work / "test.hyp", options)
    return minutes, updates


def opennmt(options):
    (options.work / "vocab.txt").write_text("".join(piece + "\t1\n" for piece in pieces_of(options)))
    encode = [options.programs / "nmt-prepro", "--encode", options.prepared]
    for part in ("train", "valid", "test"):
        for language in ("de", "en"):
            pipe(encode, options.data / f"{part}.{language}", options.work / f"{part}.{language}", options)
    configuration = options.work / "config.yaml"
    configuration.write_text(opennmt_configuration(options))
    programs = options.peers / "venv/bin"
    minutes, text = train([programs / "onmt_train", "-config", configuration], options)
    updates = max(map(int, re.findall(r"Step +(\d+)/", text)), default=0)
    perplexities = list(map(float, re.findall(r"Validation perplexity: ([\d.]+)", text)))
    best = min(range(len(perplexities)), key=perplexities.__getitem__)
    device = ["-gpu", "0"] if options.device == "cuda" else []
    model = options.work / f"model_step_{(best + 1) * options.every}.pt"
    subprocess.run([programs / "onmt_translate", *device, "-model", model, "-src", options.work / "test.de", "-output",
                    options.work / "test.pieces", "-beam_size", "5", "-batch_size", "32"], env=environment(options), check=True)
    pipe([options.programs / "nmt-prepro", "--decode", options.prepared], options.work / "test.pieces",
         options.work / "test.hyp", options)
    return minutes, updates


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("peers", "data", "prepared"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--peer", choices=("joeynmt", "opennmt"), required=True)
    parser.add_argument("--minutes", type=float, default=150)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--every", type=int, default=500, help="updates between validations")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--programs", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "runs" / "low_resource_peers")
    options = parser.parse_args()
    options.work = options.work / options.peer
    for name in ("peers", "data", "prepared", "programs", "work"):
        setattr(options, name, getattr(options, name).resolve())
    options.work.mkdir(parents=True, exist_ok=True)
    minutes, updates = {"joeynmt": joeynmt, "opennmt": opennmt}[options.peer](options)
    score = subprocess.run([options.programs / "nmt-score", options.data / "test.en", "-i", options.work / "test.hyp",
                            "--tokenize", "none", "-lc", "-b", "-w", "2"], check=True, capture_output=True, text=True)
    print("| program | minutes | updates | BLEU of tokens, test set |\n| --- | --- | --- | --- |")
    print(f"| {options.peer} | {minutes:.1f} | {updates:,} | {score.stdout.strip()} |")


if __name__ == "__main__":
    main()
