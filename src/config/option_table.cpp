#include "config/option_table.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace nmt {
namespace {

Range at_least(double min) { return {.min = min}; }
Range between(double min, double max) { return {.min = min, .max = max}; }
Range above(double min) { return {.min = min, .min_is_open = true}; }
Range from_below(double min, double max) { return {.min = min, .max = max, .max_is_open = true}; }

bool is_device(std::string_view text) {
  if (text == "auto" || text == "cpu" || text == "cuda") return true;
  if (!text.starts_with("cuda:")) return false;
  const std::string_view number = text.substr(5);
  return !number.empty() && number.size() <= 3 &&
         std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c); });
}

bool is_language(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
}

bool is_language_pair(std::string_view text) {
  const size_t hyphen = std::min(text.find('-'), text.size());
  const auto target = text.substr(std::min(hyphen + 1, text.size()));
  return is_language(text.substr(0, hyphen)) && is_language(target) && target.find('-') == target.npos;
}

bool is_not_empty(std::string_view text) { return !text.empty(); }
bool is_keep_best(std::string_view text) { return text.empty() || parse_keep_best(text); }

const TextRule kDevice{"auto, cpu, cuda or cuda:N", is_device};
const TextRule kLanguage{"a language code such as de or zh-Hant", is_language};
const TextRule kLanguagePair{"two language codes with a hyphen between, de-en; within a code write _: de-zh_Hant",
                             is_language_pair};
const TextRule kNotEmpty{"", is_not_empty};
const TextRule kKeepBest{"forward, backward, dual or aligner, and a share above 0 and at most 1: dual 0.7",
                         is_keep_best};

constexpr OnResume kFixed = OnResume::kFixed;
constexpr OnResume kMayChange = OnResume::kMayChange;

template <auto SectionMember, auto Member>
Field field_of(Config& config) {
  return &(config.*SectionMember.*Member);
}

// The name of an option is the name of its member: written once.
#define NMT_OPTION(section, Struct, name, limits, help, ...) \
  Option { #section, #name, field_of < &Config::section, &Struct::name>, limits, help, __VA_ARGS__ }
#define NMT_DATA(name, limits, help) NMT_OPTION(data, DataConfig, name, limits, help, kFixed)
#define NMT_MODEL(name, limits, help) NMT_OPTION(model, ModelConfig, name, limits, help, kFixed)
#define NMT_TRAINING(name, limits, help, on_resume) NMT_OPTION(training, TrainingConfig, name, limits, help, on_resume)
#define NMT_VALIDATION(name, limits, help) NMT_OPTION(validation, ValidationConfig, name, limits, help, kMayChange)
#define NMT_DECODING(name, limits, used_by, help) \
  NMT_OPTION(decoding, DecodingConfig, name, limits, help, kMayChange, used_by)
#define NMT_EVALUATION(name, limits, help) NMT_OPTION(evaluation, EvaluationConfig, name, limits, help, kMayChange)
#define NMT_RUN(name, limits, help, on_resume) NMT_OPTION(run, RunConfig, name, limits, help, on_resume)

const std::vector<Option>& table() {
  constexpr auto any = std::monostate();
  static const std::vector<Option> rows{
      NMT_DATA(dir, kNotEmpty, "folder of the prepared data: nmt-prepro writes it, nmt-train and nmt-eval read it"),
      NMT_DATA(source_language, kLanguage, "code of the source language"),
      NMT_DATA(target_language, kLanguage, "code of the target language"),
      NMT_DATA(
          train1, kNotEmpty,
          "source side of the training text: plain, gzip or zstd, IWSLT train.tags.*, sgm or xml; TSV, JSON lines, "
          "TMX or WMT's XML with both sides, also in train2; one file or a list"),
      NMT_DATA(train2, kNotEmpty, "target side of the training text: entry i belongs to entry i of train1"),
      NMT_DATA(train_tsv, kNotEmpty, "training text with source and target in one file: source TAB target a line"),
      NMT_DATA(tsv_columns, between(1, 1000),
               "columns of source and target in every TSV file of this section, from 1: [2, 4]; empty: the first two"),
      NMT_DATA(languages, kLanguagePair,
               "of several languages: source and target of each training corpus, train1 first, then train_tsv: [de-en, "
               "fr-en]; empty: source_language and target_language of all"),
      NMT_DATA(tags, any,
               "target puts a piece of the target language (>>en<<) before each source sentence, by which one model "
               "translates into several; translated text needs none (decoding.target_language)"),
      NMT_OPTION(data, DataConfig, lines, any,
                 "what a line of the training text is: of a model of sentences, services and documents split what they "
                 "are given into sentences (--no-split-sentences)",
                 kMayChange),
      NMT_DATA(eval1, any, "source side of the validation set, raw text"),
      NMT_DATA(eval2, any, "target side of the validation set: the reference, raw text"),
      NMT_DATA(
          eval, any,
          "several validation sets instead of eval1 and eval2: [{name: dev, source: FILE, target: FILE}, ...], with "
          "languages: de-en where they are others; all are measured, validation.best_of says which decide"),
      NMT_DATA(test1, any, "source side of the test set, raw text"),
      NMT_DATA(test2, any, "target side of the test set: the reference, raw text"),
      NMT_DATA(test, any,
               "several test sets instead of test1 and test2: [{name: tst2014, source: FILE, target: FILE}, ...]"),
      NMT_DATA(lowercase, any, "lower-case both sides; references of validation and test sets stay as they stand"),
      NMT_DATA(nfkc, any, "bring both sides into Unicode normal form KC; references stay as they stand"),
      NMT_DATA(repair_utf8, any, "replace bytes that are not UTF-8 by U+FFFD instead of stopping"),
      NMT_DATA(
          bad_lines, any,
          "lines of the training text that cannot be read (not UTF-8, no tab, no JSON object): all are counted and "
          "nmt-prepro stops, or they are left out"),
      NMT_DATA(maxlen1, between(2, 100000),
               "longest source sentence of the training text in pieces, the end symbol counted; for longer pairs see "
               "too_long"),
      NMT_DATA(maxlen2, between(2, 100000),
               "longest target sentence of the training text in pieces, the end symbol counted; for longer pairs see "
               "too_long"),
      NMT_DATA(too_long, any,
               "longer training pairs are dropped, or the pieces beyond maxlen1 and maxlen2 are cut off"),
      NMT_DATA(max_length_ratio, at_least(0),
               "drop training pairs whose longer side has more than this many times the pieces of the shorter; 0 = "
               "off"),
      NMT_DATA(drop_empty, any, "drop training pairs with an empty side"),
      NMT_DATA(drop_duplicates, any, "keep the first of equal training pairs only"),
      NMT_DATA(drop_test_overlap, any,
               "drop training pairs whose source and target both stand in the validation or test set"),
      NMT_DATA(clean, any,
               "drop training pairs by what they say, by some rules or all: [letters, numbers]; each costs some good "
               "pairs, too, and nmt-prepro shows what it drops"),
      NMT_DATA(uncleaned, kNotEmpty,
               "training corpora that clean leaves alone, by the names of their files up to the first dot, or as "
               "train1 and train_tsv have them"),
      NMT_DATA(tokenizer, any, "how text is cut into pieces"),
      NMT_DATA(spm_type, any, "kind of SentencePiece model to learn"),
      NMT_DATA(vocab_size, between(8, 1000000), "pieces in the vocabulary (joint), or in each of both"),
      NMT_DATA(joint_vocabulary, any, "one vocabulary for both languages"),
      NMT_DATA(spm_model1, any, "ready SentencePiece model of the source, or of both languages where joint"),
      NMT_DATA(spm_model2, any, "ready SentencePiece model of the target, where not joint"),
      NMT_DATA(
          spm_sentences, at_least(0),
          "SentencePiece learns from at most this many lines, a sample by the seed; 0 = all (they are held in memory)"),
      NMT_DATA(
          spm_upper, between(0, 1),
          "share of these lines that SentencePiece reads in capitals, so that text in capitals is not spelt letter "
          "by letter (for training.augment_upper)"),
      NMT_DATA(character_coverage, between(0.98, 1),
               "share of the characters of the training text that get a piece; the rest is unknown"),
      NMT_DATA(byte_fallback, any, "spell characters without a piece as UTF-8 bytes (256 pieces) instead of <unk>"),
      NMT_DATA(user_symbols, kNotEmpty, "texts that are always one piece"),
      NMT_DATA(normalization, any, "SentencePiece's normalisation rule; _cf folds case"),
      NMT_DATA(min_cnt, at_least(1), "words: rarer ones are unknown"),
      NMT_DATA(word_ties, any, "words: order of equal counts, the word seen first or the alphabet (torchtext)"),
      NMT_DATA(vocabulary1, any,
               "words: ready file of words and counts of the source, or of both languages where joint"),
      NMT_DATA(vocabulary2, any, "words: the same of the target, where not joint"),
      NMT_DATA(count_markup, any, "words: count those of markup lines too, as Kyubyong's program of 2017 does"),
      NMT_DATA(characters, any,
               "latin deletes all but white space, Latin letters and the apostrophe, in every split (Kyubyong 2017)"),
      NMT_DATA(source_markers, any,
               "what stands around a source sentence: </s> behind it, <s> before it too, or nothing"),
      NMT_DATA(reverse_source, any,
               "the encoder reads a sentence's pieces last to first (Sutskever et al. 2014); alignments are those of "
               "the text"),
      NMT_OPTION(data, DataConfig, naming, any,
                 "kyubyong2019 also writes the text and its pieces as that program does: prepro/, segmented/",
                 kMayChange),
      NMT_DATA(source_prefix, any,
               "text put before each source sentence, behind lower-casing and before it is cut into pieces (T5: "
               "'translate English to German: '); it counts for maxlen1"),
      NMT_OPTION(data, DataConfig, shortlist, between(0, 10000),
                 "make a lexicon of the training pairs for decoding.shortlist, with this many target pieces for each "
                 "source piece; 0 = none",
                 kMayChange),
      NMT_DATA(alignment, any,
               "align the pieces of the training pairs (IBM Model 1, then a hidden Markov model), for "
               "training.guided_alignment"),
      NMT_DATA(keep_best, kKeepBest,
               "train on the training pairs of the best scores only: a score and the share that stays, such as dual "
               "0.7; scores are made by nmt-translate --score-corpus, aligner by data.alignment; empty: all pairs"),

      NMT_MODEL(architecture, any, "kind of model"),
      NMT_MODEL(d_model, between(1, 65536), "size of the vectors between the layers"),
      NMT_MODEL(d_ff, between(1, 1048576), "inner size of the feed-forward nets"),
      NMT_MODEL(num_blocks, between(1, 1000), "blocks of the encoder and of the decoder"),
      NMT_MODEL(encoder_blocks, between(1, 1000), "blocks of the encoder; unset: num_blocks"),
      NMT_MODEL(decoder_blocks, between(1, 1000), "blocks of the decoder; unset: num_blocks"),
      NMT_MODEL(num_heads, between(1, 1024), "attention heads; must divide d_model"),
      NMT_MODEL(dropout_rate, from_below(0, 1), "dropout at every place that has no rate of its own below"),
      NMT_MODEL(input_dropout_rate, from_below(0, 1), "dropout on embedding + position; unset: dropout_rate"),
      NMT_MODEL(attention_dropout_rate, from_below(0, 1), "dropout on the attention weights; unset: dropout_rate"),
      NMT_MODEL(residual_dropout_rate, from_below(0, 1),
                "dropout on the output of each sub-layer, before it is added; unset: dropout_rate"),
      NMT_MODEL(ffn_dropout_rate, from_below(0, 1), "dropout inside the feed-forward net; unset: dropout_rate"),
      NMT_MODEL(norm, any, "layer normalisation after each residual sum, or before each sub-layer"),
      NMT_MODEL(final_norm, any, "with norm pre: another normalisation after the last block"),
      NMT_MODEL(norm_epsilon, above(0), "added to the variance in layer normalisation"),
      NMT_MODEL(norm_form, any, "layer normalisation, or by the root mean square alone"),
      NMT_MODEL(
          activation, any,
          "of the feed-forward nets; swiglu and geglu are gated: a third matrix; _tanh: GELU's approximation by tanh"),
      NMT_MODEL(positions, any, "how the model knows the order of words (docs/positions.md)"),
      NMT_MODEL(sinusoid, any,
                "form of the sinusoids: sine and cosine in turn (the paper), all sines first, the same with "
                "Tensor2Tensor's frequencies, twice the exponent, the raw feature index (Kyubyong 2017)"),
      NMT_MODEL(max_positions, between(1, 1000000),
                "rows of the table of learned positions; recurrent: positions that attention_score location knows"),
      NMT_MODEL(max_relative_distance, between(1, 100000),
                "shaw, deberta: positions farther apart than this share a vector; t5: where the last bucket begins"),
      NMT_MODEL(relative_buckets, between(4, 4096), "t5: buckets of distances"),
      NMT_MODEL(product_form, any, "product: embeddings times 1 + w or times w, w a trained vector of each position"),
      NMT_MODEL(convolution_width, between(2, 1000),
                "convolution: how many positions it reads, the present one among them"),
      NMT_MODEL(position_init, any,
                "initial tables of positions: normal with standard deviation d_model^-0.5, Xavier-uniform, or with 1"),
      NMT_MODEL(mask_padding_positions, any, "add no position to padding"),
      NMT_MODEL(attention_output_projection, any, "the matrix W^O after the heads"),
      NMT_MODEL(attention_bias, any,
                "biases in the projections of attention; recurrent: in the hidden layer of the additive score"),
      NMT_MODEL(qkv_activation, any, "activation of the query, key and value projections"),
      NMT_MODEL(attention_score, any,
                "score of a query and a key; location, local and none (no attention) in recurrent models only"),
      NMT_MODEL(attention_normalization, any, "scores to weights: softmax, or the scores themselves"),
      NMT_MODEL(key_value_heads, between(0, 1024),
                "heads of keys and values, shared by groups of query heads; 1 = multi-query; 0 = num_heads"),
      NMT_MODEL(decoder_mixer, any,
                "self-attention of the decoder, or what replaces it: average attention, a simple recurrent unit"),
      NMT_MODEL(tie_embeddings, any, "which matrices are one: source, target and output; target and output; none"),
      NMT_MODEL(output_bias, any, "a bias in the output layer"),
      NMT_MODEL(zero_padding_embedding, any, "the embedding of padding is zero and stays so"),
      NMT_MODEL(
          embedding_init, any,
          "initial embeddings: Xavier-uniform, normal with standard deviation d_model^-0.5, or with 1, or as init"),
      NMT_MODEL(init, any,
                "other initial matrices: Xavier-uniform, normal with init_std, uniform within init_range, or within 1 "
                "/ sqrt(inputs) (fan_in, PyTorch's default; matrices of recurrent cells: 1 / sqrt(their size))"),
      NMT_MODEL(init_std, above(0), "standard deviation where init or recurrent_init is normal"),
      NMT_MODEL(init_range, above(0), "largest initial value where init, recurrent_init or bias_init is uniform"),
      NMT_MODEL(bias_init, any, "initial biases: zero, uniform within init_range, or within 1 / sqrt(inputs)"),
      NMT_MODEL(deep_init, any,
                "for many blocks: matrices of block l times l^-0.5 (Zhang et al. 2019); or DeepNet's (Wang et al. "
                "2022): smaller matrices and larger weights of residual connections; norm post"),
      NMT_MODEL(
          attention_init, any,
          "initial score function of recurrent models: as init, or matrices of standard deviation 0.001 and v zero "
          "(Bahdanau et al. 2015)"),
      NMT_MODEL(recurrent_init, any, "initial matrices from state to state in recurrent models"),
      NMT_MODEL(word_vectors1, any, "text file of word vectors: initial source embeddings (joint: of both)"),
      NMT_MODEL(word_vectors2, any, "the same for the target, where embeddings are not one table"),
      NMT_MODEL(cell, any, "recurrent: kind of cell"),
      NMT_MODEL(bidirectional, any, "recurrent: the encoder reads both ways"),
      NMT_MODEL(embedding_size, between(0, 65536), "recurrent: size of the embeddings; 0 = d_model"),
      NMT_MODEL(encoder_size, between(0, 65536), "recurrent: size of the encoder's state, a direction; 0 = d_model"),
      NMT_MODEL(attention_size, between(0, 65536),
                "recurrent: inner size of the additive score and of a predictive window; 0 = d_model"),
      NMT_MODEL(decoder_order, any,
                "recurrent: the state before a step attends and the context enters the cell, or the new state attends"),
      NMT_MODEL(input_feeding, any, "recurrent, luong: the attentional vector enters the next step"),
      NMT_MODEL(
          initial_state, any,
          "recurrent: the decoder's first state, tanh of a matrix times the encoder's last states, its backward one "
          "or the mean of all; its last states as they are, layer by layer; or zero"),
      NMT_MODEL(readout, any,
                "recurrent: what the output layer reads: state, context and embedding side by side, or through one "
                "matrix and tanh or maxout"),
      NMT_MODEL(readout_size, between(0, 65536), "recurrent: size of readouts tanh and maxout; 0 = d_model"),
      NMT_MODEL(readout_state, any,
                "recurrent, bahdanau: the readout reads the state after a step, or that before it as in the paper"),
      NMT_MODEL(coverage, any, "recurrent, additive: the sum of past weights enters the score"),
      NMT_MODEL(attention_window, any,
                "recurrent: attention looks at a part of the source, around a predicted position or around that of "
                "the step (Luong et al. 2015, local-p and local-m); attention_score local is general with the first"),
      NMT_MODEL(local_window, between(1, 10000), "recurrent, attention_window: positions looked at on each side"),

      NMT_TRAINING(batch_size, between(1, 1e9), "size of a batch in the unit of batch_type", kFixed),
      NMT_TRAINING(batch_type, any,
                   "what batch_size counts: sentence pairs, or tokens (rows x the wider side, padding counted)",
                   kFixed),
      NMT_TRAINING(accumulate, between(1, 1e6), "batches in one update", kFixed),
      NMT_TRAINING(accumulate_warmup, between(0, 1e9),
                   "updates over which the batches in one update rise from 1 to accumulate; 0 = none", kFixed),
      NMT_TRAINING(
          gradient_checkpointing, any,
          "a block keeps its input alone and is computed again in the backward pass: less memory, a third more "
          "arithmetic, the same results",
          kMayChange),
      NMT_TRAINING(checkpointed_blocks, between(0, 1000),
                   "gradient_checkpointing: of this many blocks of the encoder and of the decoder, the first ones; 0 = "
                   "of all",
                   kMayChange),
      NMT_TRAINING(shard_optimizer, any,
                   "several processes: each keeps the optimizer's state and the moving average of its share of the "
                   "weights (ZeRO, stage 1); the same results",
                   kMayChange),
      NMT_TRAINING(corpus_weights, between(0, 1000),
                   "for each training corpus (train1, then train_tsv) how often an epoch has its pairs: 2.5 is twice, "
                   "and a random half of them once more; empty: once",
                   kFixed),
      NMT_TRAINING(pair_weights, any,
                   "an epoch has each training pair as often as this score says, e to its power, once on average; the "
                   "scores are those of data.keep_best",
                   kFixed),
      NMT_TRAINING(
          corpus_temperature, (Range{.min = 1, .max = 1000}),
          "T: an epoch has the corpora in shares of n^(1/T), n their pairs, so that small ones come more often; "
          "5 is common (Arivazhagan et al. 2019), 1 = as they are",
          kFixed),
      NMT_TRAINING(stages, any,
                   "parts of the training, one after the other, each with shares of the training corpora (by the names "
                   "of their files up to the first dot): [{shares: {synthetic: 0.6, clean: 0.4}, until_epochs: 2}, "
                   "{shares: {clean: 1}}]; an epoch has each pair of the first corpus named once; until_epochs, "
                   "until_update or until_stalled (validations without a new best) ends all but the last",
                   kFixed),
      NMT_TRAINING(num_epochs, at_least(0), "stop after this many passes over the data; 0 = no limit", kMayChange),
      NMT_TRAINING(max_updates, at_least(0), "stop after this many updates; 0 = no limit", kMayChange),
      NMT_TRAINING(max_minutes, at_least(0), "stop after this many minutes of training; 0 = no limit", kMayChange),
      NMT_TRAINING(max_target_tokens, at_least(0), "stop after this many target tokens; 0 = no limit", kMayChange),
      NMT_TRAINING(lr, above(0), "learning rate: a factor (noam), else the rate at the end of the warm-up", kFixed),
      NMT_TRAINING(schedule, any,
                   "learning rate over updates s: up to lr at warmup_steps, then lr * sqrt(warmup_steps / s); the "
                   "paper's lr * d_model^-0.5 * min(s^-0.5, s * warmup_steps^-1.5); down to final_lr at decay_updates "
                   "in one of three curves; down when validations bring nothing new; halved after halving_start "
                   "epochs and every halving_every epochs then; lr throughout",
                   kFixed),
      NMT_TRAINING(warmup_steps, between(0, 1e9), "updates of linear warm-up; 0 = none", kFixed),
      NMT_TRAINING(decay_updates, at_least(0), "linear, cosine, polynomial: the update that reaches final_lr", kFixed),
      NMT_TRAINING(final_lr, at_least(0), "linear, cosine, polynomial: the last rate; plateau: the minimum", kFixed),
      NMT_TRAINING(polynomial_power, above(0), "polynomial: the exponent; 1 is linear", kFixed),
      NMT_TRAINING(plateau_factor, from_below(0, 1), "plateau: factor of the rate", kFixed),
      NMT_TRAINING(plateau_patience, between(1, 1e6),
                   "plateau: validations in a row without a new best before the rate falls", kFixed),
      NMT_TRAINING(halving_start, at_least(0), "halving: epochs before the rate is halved for the first time", kFixed),
      NMT_TRAINING(halving_every, above(0), "halving: epochs from one time to the next, such as 1 or 0.5", kFixed),
      NMT_TRAINING(optimizer, any, "how gradients change the weights; adamw is adam", kFixed),
      NMT_TRAINING(sgd_momentum, from_below(0, 1), "momentum of SGD; 0 = none", kFixed),
      NMT_TRAINING(adafactor_decay, between(0, 1), "exponent c of Adafactor's decay 1 - t^-c of second moments",
                   kFixed),
      NMT_TRAINING(adafactor_clip, above(0), "maximum root mean square of an update of Adafactor", kFixed),
      NMT_TRAINING(adafactor_scale, any, "Adafactor: lr is relative to the root mean square of a weight matrix",
                   kFixed),
      NMT_TRAINING(adadelta_rho, from_below(0, 1), "decay of Adadelta's means of squares", kFixed),
      NMT_TRAINING(adadelta_epsilon, above(0), "added under Adadelta's roots", kFixed),
      NMT_TRAINING(adam_beta1, from_below(0, 1), "decay of Adam's mean of gradients", kFixed),
      NMT_TRAINING(adam_beta2, from_below(0, 1), "decay of Adam's mean of squared gradients", kFixed),
      NMT_TRAINING(adam_epsilon, above(0), "added to the root in Adam's denominator", kFixed),
      NMT_TRAINING(weight_decay, from_below(0, 1), "pull of the weights towards zero", kFixed),
      NMT_TRAINING(weight_decay_form, any,
                   "lr * weight_decay of each weight is taken off it, beside the gradient (AdamW); or weight_decay * "
                   "weight is added to the gradient (L2)",
                   kFixed),
      NMT_TRAINING(clip_norm, at_least(0), "scale gradients of a larger norm than this down to it; 0 = off", kFixed),
      NMT_TRAINING(loss_mean, any,
                   "what the loss of an update, its gradient and its norm are a mean over: target tokens or pairs",
                   kFixed),
      NMT_TRAINING(smoothing, from_below(0, 1), "label smoothing: share spread evenly over the vocabulary", kFixed),
      NMT_TRAINING(
          smoothing_form, any,
          "where the share goes: to all classes; to all but the true one; the same, and the loss minus its minimum",
          kFixed),
      NMT_TRAINING(objective, any,
                   "cross-entropy alone; of two copies of each batch and their divergence (R-Drop, Liang et al. 2021); "
                   "and the divergence from a copy with tokens cut off (SimCut, Gao et al. 2022); from a teacher's "
                   "distributions (word by word, Kim and Rush 2016)",
                   kFixed),
      NMT_TRAINING(
          teacher, any,
          "distillation: model directory with the same vocabulary, whose distributions over the next piece are "
          "learnt beside the labels",
          kFixed),
      NMT_TRAINING(teacher_weight, between(0, 1), "distillation: share of the teacher in the loss", kFixed),
      NMT_TRAINING(rdrop_alpha, at_least(0), "weight of R-Drop's divergence", kFixed),
      NMT_TRAINING(simcut_alpha, at_least(0), "weight of SimCut's divergence", kFixed),
      NMT_TRAINING(simcut_rate, from_below(0, 1), "share of tokens that SimCut cuts off, both sides", kFixed),
      NMT_TRAINING(guided_alignment, at_least(0),
                   "weight of the loss by which the head decoding.alignment_head of decoding.alignment_layer learns to "
                   "align words (Garg et al. 2019: 0.05); needs data.alignment; 0 = off",
                   kFixed),
      NMT_TRAINING(word_dropout1, from_below(0, 1), "share of source pieces that are replaced", kFixed),
      NMT_TRAINING(word_dropout2, from_below(0, 1),
                   "share of target pieces that are replaced where the decoder reads "
                   "them; the labels stay",
                   kFixed),
      NMT_TRAINING(word_dropout_form, any, "replaced by <unk>, or by a zero embedding", kFixed),
      NMT_TRAINING(bpe_dropout1, between(0, 1), "BPE-dropout of the source: share of merges that are left out", kFixed),
      NMT_TRAINING(bpe_dropout2, between(0, 1), "BPE-dropout of the target", kFixed),
      NMT_TRAINING(unigram_alpha1, between(0, 100),
                   "subword sampling of the source by the unigram model: P(segmentation)^alpha; 0 = none", kFixed),
      NMT_TRAINING(unigram_alpha2, between(0, 100), "subword sampling of the target", kFixed),
      NMT_TRAINING(unigram_nbest, between(0, 1000),
                   "subword sampling among this many best segmentations; 0 = among all", kFixed),
      NMT_TRAINING(augment_upper, between(0, 1), "share of the pairs, drawn in each epoch, in capitals on both sides",
                   kFixed),
      NMT_TRAINING(augment_title, between(0, 1), "the same with a capital at the beginning of each word", kFixed),
      NMT_TRAINING(augment_typos, between(0, 1), "share of the pairs, drawn in each epoch, with typos in the source",
                   kFixed),
      NMT_TRAINING(augment_no_end_mark, between(0, 1),
                   "share of the pairs, drawn in each epoch, without full stop or other mark at the end, both sides",
                   kFixed),
      NMT_TRAINING(augment_joined, between(0, 1),
                   "share of the pairs, drawn in each epoch, with the pair that follows in the corpus behind it",
                   kFixed),
      NMT_TRAINING(
          teacher_forcing, between(0, 1),
          "recurrent: share of steps at which the decoder reads the reference; at the others it reads its own choice",
          kFixed),
      NMT_TRAINING(pool_batches, at_least(0),
                   "batch_type sentences: pools of this many batches are sorted by length; 0 = no sorting", kFixed),
      NMT_TRAINING(last_batch, any,
                   "batch_type sentences: the short last batch of an epoch is kept, dropped, or filled with other "
                   "pairs of the epoch",
                   kFixed),
      NMT_TRAINING(checkpoint_every, at_least(0), "updates between checkpoints; 0 = at each validation", kMayChange),
      NMT_TRAINING(keep_checkpoints, between(1, 1e6), "keep this many checkpoints, the last ones", kMayChange),
      NMT_TRAINING(average_checkpoints, between(0, 1000),
                   "at the end average this many checkpoints, the last ones; the average is kept if it scores better; "
                   "0 = off",
                   kFixed),
      NMT_TRAINING(average_best, between(0, 1000),
                   "at the end average this many weights, those that validated best; the average is kept if it scores "
                   "better; 0 = off",
                   kFixed),
      NMT_TRAINING(
          ema_decay, from_below(0, 1),
          "exponential moving average of the weights, validated beside them and kept if it scores better; 0 = off",
          kFixed),
      NMT_TRAINING(init_from, any,
                   "model directory that a new run starts from: nmt-prepro takes its vocabulary, nmt-train its "
                   "architecture and weights; what is set otherwise is refused (--from-model of both programs)",
                   kFixed),
      NMT_TRAINING(
          init_vocabulary, any,
          "init_from: the model's own vocabulary, or a new one that its rows are mapped to: pieces of both keep "
          "theirs, new ones begin as the mean of those that spell them",
          kFixed),
      NMT_TRAINING(freeze, kNotEmpty, "weights that are not trained: names as in model.safetensors, with * and ?",
                   kFixed),
      NMT_TRAINING(lora_rank, between(0, 1024),
                   "train an adapter of init_from instead: updates of this rank for the matrices of attention and "
                   "feed-forward layers, all else stays as it is (LoRA, Hu et al. 2022); 0 = off",
                   kFixed),
      NMT_TRAINING(lora_alpha, above(0), "lora_rank: the updates are multiplied by lora_alpha / lora_rank", kFixed),

      NMT_VALIDATION(every, at_least(0), "updates between validations; 0 = at the end of each epoch"),
      NMT_VALIDATION(metrics, any, "what is measured: loss (with perplexity and accuracy), bleu, chrf"),
      // Scores of different metrics cannot be compared, and a run keeps its best ones.
      NMT_OPTION(validation, ValidationConfig, best_metric, any, "the metric that decides which weights are best",
                 kFixed),
      NMT_OPTION(validation, ValidationConfig, best_of, any,
                 "several validation sets: the score of the first decides, or the mean of all", kFixed),
      NMT_VALIDATION(patience, at_least(0), "stop after this many validations in a row without a new best; 0 = off"),
      NMT_VALIDATION(beam_size, between(1, 1000), "hypotheses a sentence in validation; 1 = greedy"),
      NMT_VALIDATION(max_sentences, at_least(0), "translate only this many sentences, the first ones; 0 = all"),
      NMT_VALIDATION(samples, between(0, 1000),
                     "translations shown in the log and in TensorBoard: of the first sentences"),
      NMT_VALIDATION(random_sample, any,
                     "show one translation more, of another sentence each time: drawn by run.seed and the update"),
      NMT_VALIDATION(teacher_forcing, between(0, 1),
                     "recurrent: share of steps at which the decoder reads the reference when the loss is measured; at "
                     "the others it reads its own choice; 0 = free-running"),
      NMT_VALIDATION(attention_samples, between(0, 1000),
                     "draw the attention of this many sentences, the first ones: TensorBoard, report.html"),
      NMT_VALIDATION(attention_lines, at_least(1),
                     "draw that of these sentences of the validation set, too: numbers from 1"),

      NMT_DECODING(beam_size, between(1, 1000), kOfSearch, "hypotheses a sentence; 1 = greedy"),
      NMT_DECODING(length_penalty, between(0, 10), kOfAll & ~kOfSamples, "exponent a of the length penalty; 0 = none"),
      NMT_DECODING(length_penalty_form, any, kOfAll & ~kOfSamples,
                   "for a hypothesis of n tokens: ((5 + n) / 6)^a, or n^a"),
      NMT_DECODING(
          max_length_ratio, between(0, 1000), kOfSearch,
          "a translation has at most max_length_ratio x source + max_length_offset tokens, end symbols counted"),
      NMT_DECODING(max_length_offset, between(0, 100000), kOfSearch, "see max_length_ratio"),
      NMT_DECODING(min_length, between(0, 100000), kOfSearch, "minimum number of tokens before the end symbol"),
      NMT_DECODING(max_length, between(0, 100000), kOfSearch,
                   "maximum number of tokens for any source, the end symbol counted; 0 = only max_length_ratio and "
                   "max_length_offset"),
      NMT_DECODING(
          stopping, any, kOfSearch & ~kOfSamples,
          "a sentence is done when nothing live can win (optimal), also when enough is finished and what lives "
          "has fallen behind (heuristic), also when beam_size hypotheses are finished (first)"),
      NMT_DECODING(coverage_penalty, between(0, 100), kOfAll,
                   "beta of the coverage penalty (Wu et al. 2016), by which finished hypotheses are ranked again; 0 = "
                   "none"),
      NMT_DECODING(no_repeat_ngram_size, between(0, 1000), kOfSearch,
                   "no n-gram of this many tokens appears twice; 0 = off"),
      NMT_DECODING(
          repetition_penalty, between(0.01, 100), kOfSearch,
          "logits of tokens that were written already are divided by this, negative ones multiplied (Keskar et "
          "al. 2019); 1 = off"),
      NMT_DECODING(ban_unknown, any, kOfSearch, "never write <unk>"),
      NMT_DECODING(banned_phrases, kNotEmpty, kOfSearch, "target phrases that no translation holds"),
      NMT_DECODING(placeholders, kNotEmpty, kOfSearch,
                   "regular expressions (of ICU) of what stays as it stands, beside what --keep-placeholders finds"),
      NMT_DECODING(diversity_groups, between(1, 1000), kOfSearch,
                   "groups of diverse beam search (Vijayakumar et al. 2018); divides beam_size; 1 = off"),
      NMT_DECODING(diversity_strength, between(0, 100), kOfSearch,
                   "what a token costs for each time that an earlier group has chosen it in the same step"),
      NMT_DECODING(sampling, any, kOfSearch, "draw tokens by their probability instead of searching; with beam_size 1"),
      NMT_DECODING(temperature, between(0.01, 100), kOfSearch, "sampling: logits are divided by it"),
      NMT_DECODING(top_k, at_least(0), kOfSearch, "sampling: only among this many most probable tokens; 0 = all"),
      NMT_DECODING(top_p, (Range{.min = 0, .max = 1, .min_is_open = true}), kOfSearch,
                   "sampling: only among the fewest most probable tokens whose probabilities sum to this; 1 = all"),
      NMT_DECODING(seed, at_least(0), kOfSearch, "of sampling"),
      NMT_DECODING(mbr, any, kOfSearch,
                   "take the candidate that is most like all others by this score (minimum Bayes risk): of a beam by "
                   "their probabilities, of samples by how often they are drawn"),
      NMT_DECODING(mbr_samples, between(2, 10000), kOfSearch, "mbr with sampling: draw this many candidates"),
      NMT_DECODING(retry_loops, any, kOfSearch,
                   "a translation that repeats itself or is cut far behind its source is searched once more, without "
                   "n-grams that come twice"),
      NMT_DECODING(combination, any, kOfAll & ~kOfOneModel,
                   "several models vote by the mean of their probabilities or of their log-probabilities"),
      NMT_DECODING(alignment_layer, between(0, 1000), kOfAll,
                   "decoder layer whose attention to the source is shown and counted, from 1; 0 = the last but one"),
      NMT_DECODING(alignment_head, between(0, 1000), kOfAll,
                   "head of that layer which aligns words, from 1; 0 = the mean of all heads"),
      NMT_DECODING(alignment_token, any, kOfAll,
                   "a target token is aligned by the attention of the step that writes it (output) or of the step that "
                   "reads it (input, Chen et al. 2020)"),
      NMT_DECODING(batch_size, between(1, 100000), kOfAll, "sentences that are translated together"),
      NMT_DECODING(
          precision, any, kOfAll,
          "of weights in products; auto: bf16 where the processor or GPU computes in it, else fp16 on a GPU that "
          "computes in that, else fp32; fp16 for GPUs, int8 for CPUs"),
      NMT_DECODING(
          target_language, any, kOfAll,
          "which of the model's target languages is wanted, where tags of its vocabulary (>>en<<) say so; unset: "
          "a tag at the beginning of each line"),
      NMT_DECODING(shortlist, between(0, 10000), kOfAll,
                   "write only with candidates: this many for each source piece, by the model's lexicon "
                   "(data.shortlist), and the most frequent pieces; 0 = with all pieces"),
      NMT_DECODING(shortlist_frequent, between(1, 1000000), kOfSearch,
                   "shortlist: this many target pieces, the most frequent ones, are candidates of every sentence"),
      NMT_DECODING(source_language, any, kOfAll,
                   "language of the source, of a model that is told both (M2M-100, NLLB); unset: the model's own"),

      NMT_EVALUATION(only_within_maxlen, any,
                     "test only pairs whose source is within data.maxlen1 and whose first reference is within "
                     "data.maxlen2 (Kyubyong 2017)"),
      NMT_EVALUATION(whole_batches, any,
                     "leave out the last pairs of a test set that do not fill a batch of decoding.batch_size "
                     "(Kyubyong 2017)"),
      NMT_EVALUATION(
          tokenized_bleu, any,
          "also BLEU of translations and references as the Moses tokenizer cuts them (into de, en or fr), cased, "
          "lower-cased, or cased with compounds split at dashes; or as_is, cased or lower-cased, where the text is "
          "tokenised already: for comparison with published figures of that kind"),

      NMT_RUN(dir, kNotEmpty, "the run directory: checkpoints, best model, logs", kMayChange),
      NMT_RUN(seed, at_least(0), "of every random number", kFixed),
      // Libraries keep arrays for each thread on the stack: FBGEMM's sort needs more than there is from 2048 on.
      NMT_RUN(threads, between(0, 1024),
              "threads of the processor, a process; 0 = all of them, shared out to the processes of a machine", kFixed),
      NMT_RUN(process_timeout, between(2, 86400),
              "several processes: seconds without a sign of life from one of them that end the run", kMayChange),
      NMT_RUN(device, kDevice, "where it runs", kFixed),
      NMT_RUN(
          precision, any,
          "of products and activations; weights stay fp32. auto: bf16 where the device is faster in it, else fp16 on a "
          "GPU with tensor cores, else fp32; fp16 is for GPUs, with dynamic loss scaling",
          kFixed),
      NMT_RUN(log_every, between(1, 1e9), "updates between lines of the log", kMayChange),
      NMT_RUN(tensorboard, any, "write event files for TensorBoard", kMayChange),
      NMT_RUN(tensorboard_every, between(0, 1e9), "updates between points of TensorBoard's curves; 0 = log_every",
              kMayChange),
      NMT_RUN(histograms, any,
              "write histograms of every weight and its gradient for TensorBoard, each log_every updates", kMayChange),
      NMT_RUN(naming, any, "names of checkpoints and results as in the original programs, beside the toolkit's own",
              kMayChange),
      NMT_RUN(evaldir, any,
              "naming kyubyong2019: folder of the translations of validations; unset: eval/ of the run directory",
              kMayChange),
      NMT_RUN(testdir, any,
              "naming kyubyong2019, kyubyong2017: folder of nmt-eval's result files; unset: test/ or results/ of the "
              "run directory",
              kMayChange),
      NMT_RUN(tensorboard_tags, any, "names of the curves: the toolkit's, or those of the original programs",
              kMayChange),
  };
  return rows;
}

#undef NMT_OPTION
#undef NMT_DATA
#undef NMT_MODEL
#undef NMT_TRAINING
#undef NMT_VALIDATION
#undef NMT_DECODING
#undef NMT_EVALUATION
#undef NMT_RUN

constexpr std::array kSections{
    Section{"data", "the text, its cleaning and its vocabulary"},
    Section{"model", "the network"},
    Section{"training", "batches, optimiser, schedule, checkpoints, when to stop"},
    Section{"validation", "what is measured while training, and when"},
    Section{"decoding", "how text is translated"},
    Section{"evaluation", "what nmt-eval measures beside BLEU and chrF2 of plain text, and on which pairs"},
    Section{"run", "where it runs and what it writes"},
};

}  // namespace

std::span<const Section> sections() { return kSections; }

std::span<const Option> options() { return table(); }

const Option* find_option(std::string_view section, std::string_view name) {
  const auto found = std::find_if(table().begin(), table().end(), [&](const Option& option) {
    return option.section == section && option.name == name;
  });
  return found == table().end() ? nullptr : &*found;
}

}  // namespace nmt
