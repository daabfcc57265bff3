#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/kinds.h"

namespace nmt {

/// What a run is a function of, one struct a section of the YAML file. Each field is one option: its default stands
/// here, its name, range and help in option_table.cpp, the words of a choice in kinds.h. The leaf names are those
/// of Kyubyong's hyper-parameters where he has one (suffix 1 = source, 2 = target).

/// A named validation or test set: source text, and the reference as it stands.
struct TextSet {
  std::string name = {}, source = {}, target = {};
  std::string languages = {};  ///< "de-en"; empty: data.source_language and target_language
  bool operator==(const TextSet&) const = default;
};

/// A part of a training with a mix of corpora of its own.
struct TrainingStage {
  /// Names of training corpora (corpora_named) and their shares; an epoch has each pair of the first one once.
  std::vector<std::pair<std::string, double>> shares = {};
  Choice<StageEnd> end = StageEnd::kRun;
  int64_t limit = 0;  ///< that ends it
};

struct DataConfig {
  std::string dir = "prepared";
  std::string source_language = "de";
  std::string target_language = "en";
  // Text: plain or gzip, IWSLT train.tags.*, sgm or xml, or both sides in one; entry i of train1 belongs to entry i of
  // train2.
  std::vector<std::string> train1, train2;
  std::vector<std::string> train_tsv;  // source TAB target a line
  std::vector<int64_t> tsv_columns;    // of source and target, from 1; empty: the first two
  std::vector<std::string> languages;  // "de-en" of each training corpus; empty: source_language and target_language
  Choice<LanguageTags> tags = LanguageTags::kNone;
  Choice<TrainedLines> lines = TrainedLines::kSentences;
  std::string eval1, eval2;
  std::string test1, test2;
  std::vector<TextSet> eval, test;  // several sets, instead of eval1 and eval2, test1 and test2
  // Cleaning of the training text only.
  bool lowercase = false;  // both sides, every split's input; references stay as they stand
  bool nfkc = false;
  bool repair_utf8 = false;
  Choice<BadLines> bad_lines = BadLines::kStop;  // of the training text
  int64_t maxlen1 = 100;                         // pieces and the end symbol; longer training pairs are dropped, or cut
  int64_t maxlen2 = 100;
  Choice<TooLong> too_long = TooLong::kDrop;
  double max_length_ratio = 0;  // longer side / shorter side, in pieces; 0 = off
  bool drop_empty = true;
  bool drop_duplicates = false;
  bool drop_test_overlap = false;           // training pairs whose source and target both stand in validation or test
  Choices<CleaningRule> clean = {};         // rules that judge what a pair says; all: each of them
  std::vector<std::string> uncleaned = {};  // training corpora that they leave alone, by name (corpora_named)
  // Vocabulary.
  Choice<TokenizerKind> tokenizer = TokenizerKind::kSentencePiece;
  Choice<SentencePieceType> spm_type = SentencePieceType::kBpe;
  int64_t vocab_size = 32000;
  bool joint_vocabulary = true;
  std::string spm_model1, spm_model2;  // ready models; joint: only spm_model1
  int64_t spm_sentences = 2000000;     // at most so many lines train SentencePiece (seeded sample); 0 = all
  double spm_upper = 0;                // share of them, by chance, that it reads in capitals
  double character_coverage = 0.9995;
  bool byte_fallback = false;
  std::vector<std::string> user_symbols;
  Choice<NormalizationRule> normalization = NormalizationRule::kNmtNfkc;
  // Word vocabularies (tokenizer: words).
  int64_t min_cnt = 1;  // rarer words are unknown
  Choice<WordTies> word_ties = WordTies::kFirst;
  std::string vocabulary1, vocabulary2;  // ready *.vocab.tsv files; joint: only vocabulary1
  bool count_markup = false;             // count the words of markup lines too, as Kyubyong's program of 2017
  Choice<CharacterSet> characters = CharacterSet::kAll;
  // What the encoder gets around the pieces of a sentence.
  Choice<SourceMarkers> source_markers = SourceMarkers::kEnd;
  bool reverse_source = false;
  Choice<DataNaming> naming = DataNaming::kPlain;  // files of an original program, beside the toolkit's own
  std::string source_prefix = {};                  // text before each source sentence
  // A lexicon of the training pairs for decoding.shortlist.
  int64_t shortlist = 0;   // target pieces that it names for each source piece; 0 = none is made
  bool alignment = false;  // of the training pairs' pieces, for training.guided_alignment
  // What training takes of the pairs.
  std::string keep_best = {};  // a score and a share, such as "dual 0.7": the best so many
};

struct ModelConfig {
  Choice<Architecture> architecture = Architecture::kTransformer;
  int64_t d_model = 512;
  int64_t d_ff = 2048;
  int64_t num_blocks = 6;
  std::optional<int64_t> encoder_blocks, decoder_blocks;  // default: num_blocks
  int64_t num_heads = 8;
  double dropout_rate = 0.3;
  // Where dropout acts; default: dropout_rate.
  std::optional<double> input_dropout_rate;      // on embedding + position
  std::optional<double> attention_dropout_rate;  // on attention weights
  std::optional<double> residual_dropout_rate;   // on each sub-layer's output
  std::optional<double> ffn_dropout_rate;        // inside the feed-forward net
  Choice<Norm> norm = Norm::kPost;
  bool final_norm = true;  // pre only: a norm after the last block
  double norm_epsilon = 1e-6;
  Choice<NormForm> norm_form = NormForm::kLayer;
  Choice<FeedForwardActivation> activation = FeedForwardActivation::kRelu;
  Choice<PositionKind> positions = PositionKind::kSinusoidal;
  Choice<Sinusoid> sinusoid = Sinusoid::kInterleaved;
  int64_t max_positions = 512;         // rows of learned positions
  int64_t max_relative_distance = 16;  // shaw, deberta: farther ones share a vector; t5: the last bucket
  int64_t relative_buckets = 32;       // t5
  Choice<ProductForm> product_form = ProductForm::kShifted;
  int64_t convolution_width = 7;  // convolution: positions that it reads, the present one among them
  Choice<PositionInit> position_init = PositionInit::kNormal;
  bool mask_padding_positions = false;      // no position is added to padding
  bool attention_output_projection = true;  // W^O
  bool attention_bias = true;
  Choice<ProjectionActivation> qkv_activation = ProjectionActivation::kNone;
  Choice<AttentionScoreKind> attention_score = AttentionScoreKind::kScaledDot;
  Choice<AttentionNormalization> attention_normalization = AttentionNormalization::kSoftmax;
  int64_t key_value_heads = 0;  // 0 = num_heads; fewer: groups of heads share keys and values
  Choice<MixerKind> decoder_mixer = MixerKind::kAttention;
  Choice<TiedEmbeddings> tie_embeddings = TiedEmbeddings::kAll;
  bool output_bias = false;
  bool zero_padding_embedding = true;  // row 0 stays zero
  Choice<EmbeddingInit> embedding_init = EmbeddingInit::kXavier;
  Choice<MatrixInit> init = MatrixInit::kXavier;
  double init_std = 0.01;
  double init_range = 0.1;
  Choice<BiasInit> bias_init = BiasInit::kZero;
  Choice<DeepInitKind> deep_init = DeepInitKind::kNone;
  Choice<AttentionInit> attention_init = AttentionInit::kInit;
  Choice<RecurrentInit> recurrent_init = RecurrentInit::kXavier;
  std::string word_vectors1 = {}, word_vectors2 = {};  // text files of vectors: initial embeddings
  // architecture: recurrent. d_model is the size of the decoder's state; sizes of 0 are d_model.
  Choice<CellKind> cell = CellKind::kGru;
  bool bidirectional = true;  // the encoder reads both ways
  int64_t embedding_size = 0;
  int64_t encoder_size = 0;    // of the encoder's state, a direction
  int64_t attention_size = 0;  // hidden size of additive and local scores
  Choice<DecoderOrder> decoder_order = DecoderOrder::kBahdanau;
  bool input_feeding = true;  // luong: the attentional vector enters the next step
  Choice<InitialState> initial_state = InitialState::kLast;
  Choice<Readout> readout = Readout::kLinear;
  int64_t readout_size = 0;
  Choice<ReadoutState> readout_state = ReadoutState::kNew;  // bahdanau
  bool coverage = false;                                    // additive: the sum of past weights enters the score
  Choice<AttentionWindow> attention_window = AttentionWindow::kNone;
  int64_t local_window = 10;  // of a window: positions on each side
};

struct TrainingConfig {
  int64_t batch_size = 128;  // in batch_type's unit
  Choice<BatchType> batch_type = BatchType::kSentences;
  int64_t accumulate = 1;                   // batches an update
  int64_t accumulate_warmup = 0;            // updates over which accumulate rises from 1
  bool gradient_checkpointing = false;      // blocks keep their input alone and run again in the backward pass
  int64_t checkpointed_blocks = 0;          // of encoder and decoder each, the first ones; 0 = all
  bool shard_optimizer = false;             // each process keeps the optimizer's state of its share of the weights
  std::vector<double> corpus_weights = {};  // of each training corpus: how often an epoch has its pairs; empty = once
  double corpus_temperature = 1;            // T of shares n^(1/T), n pairs of a corpus
  std::vector<TrainingStage> stages = {};   // instead of corpus_weights, one after the other
  int64_t num_epochs = 20;                  // 0 = no limit
  int64_t max_updates = 0;                  // 0 = no limit
  double max_minutes = 0;                   // of training in this run, 0 = no limit
  int64_t max_target_tokens = 0;            // 0 = no limit
  double lr = 0.0003;
  Choice<ScheduleKind> schedule = ScheduleKind::kInverseSqrt;
  int64_t warmup_steps = 4000;
  int64_t decay_updates = 0;    // linear, cosine, polynomial: the update that has final_lr
  double final_lr = 0;          // linear, cosine, polynomial: the last rate; plateau: the least
  double polynomial_power = 2;  // polynomial
  double plateau_factor = 0.7;  // plateau: of the rate, when plateau_patience validations brought no new best
  int64_t plateau_patience = 5;
  double halving_start = 8;  // halving: epochs before the rate is halved for the first time
  double halving_every = 1;  // halving: epochs from one time to the next
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-8;
  double weight_decay = 0;
  Choice<WeightDecayForm> weight_decay_form = WeightDecayForm::kDecoupled;
  double clip_norm = 0;  // 0 = off
  Choice<LossMean> loss_mean = LossMean::kTokens;
  Choice<OptimizerKind> optimizer = OptimizerKind::kAdam;
  double sgd_momentum = 0.9;
  double adafactor_decay = 0.8;  // exponent of the decay of second moments
  double adafactor_clip = 1;     // most root mean square of an update
  bool adafactor_scale = true;   // lr is relative to the size of the weights
  double adadelta_rho = 0.95;
  double adadelta_epsilon = 1e-6;
  double smoothing = 0.1;
  Choice<SmoothingForm> smoothing_form = SmoothingForm::kAll;
  Choice<ObjectiveKind> objective = ObjectiveKind::kCrossEntropy;
  double rdrop_alpha = 5;
  double simcut_alpha = 3;
  double simcut_rate = 0.05;    // share of tokens that are cut off
  std::string teacher = {};     // distillation: model directory, of the same vocabulary
  double teacher_weight = 0.5;  // distillation: of the teacher's distributions; the rest is the labels'
  double guided_alignment = 0;  // weight of the loss of an attention head that learns to align words; 0 = off
  double word_dropout1 = 0;     // share of source pieces that are replaced
  double word_dropout2 = 0;     // of the target pieces that the decoder reads
  Choice<WordDropoutForm> word_dropout_form = WordDropoutForm::kUnknown;
  double bpe_dropout1 = 0, bpe_dropout2 = 0;      // merges left out, source and target
  double unigram_alpha1 = 0, unigram_alpha2 = 0;  // smoothing of the sampled segmentations; 0 = no sampling
  int64_t unigram_nbest = 0;                      // sample among so many; 0 = all
  // Shares of the pairs that each epoch changes.
  double augment_upper = 0, augment_title = 0, augment_typos = 0, augment_no_end_mark = 0, augment_joined = 0;
  double teacher_forcing = 1;  // share of steps fed with the reference, the others with the model's own choice
  int64_t pool_batches = 0;    // sentences: pools of so many batches are sorted by length; 0 = no sorting
  Choice<LastBatch> last_batch = LastBatch::kKeep;
  int64_t checkpoint_every = 1000;  // updates; 0 = at each validation
  int64_t keep_checkpoints = 3;     // the last so many
  int64_t average_checkpoints = 0;  // average of the last so many checkpoints at the end, kept where better; 0 = off
  int64_t average_best = 0;         // the same of the so many that validated best
  double ema_decay = 0;             // moving average of the weights, validated too; 0 = off
  std::string init_from = {};       // model directory that a new run starts from, its vocabulary too
  Choice<InitVocabulary> init_vocabulary = InitVocabulary::kSame;
  std::vector<std::string> freeze = {};  // weights that stay as they are: names with * and ?
  // A score by which an epoch has good pairs more often.
  Choice<PairScore> pair_weights = PairScore::kNone;
  int64_t lora_rank = 0;   // of low-rank updates of init_from's matrices, all that is trained; 0 = off
  double lora_alpha = 16;  // they are multiplied by alpha / rank
};

struct ValidationConfig {
  int64_t every = 0;  // updates; 0 = at the end of each epoch
  Choices<ValidationMetric> metrics = {ValidationMetric::kLoss, ValidationMetric::kBleu, ValidationMetric::kChrf};
  Choice<ValidationMetric> best_metric = ValidationMetric::kBleu;
  Choice<BestOf> best_of = BestOf::kFirst;
  int64_t patience = 0;  // stop after so many validations without a new best; 0 = off
  int64_t beam_size = 1;
  int64_t max_sentences = 0;                  // translate only the first so many; 0 = all
  int64_t samples = 3;                        // translations shown in the log and TensorBoard
  bool random_sample = true;                  // and one more, of a sentence that is drawn each time
  double teacher_forcing = 1;                 // of the loss: share of steps fed with the reference
  int64_t attention_samples = 3;              // the first so many sentences whose attention is drawn; 0 = none
  std::vector<int64_t> attention_lines = {};  // further ones, by number from 1
};

struct DecodingConfig {
  int64_t beam_size = 4;
  double length_penalty = 0.6;
  Choice<LengthPenalty> length_penalty_form = LengthPenalty::kPaper;
  double max_length_ratio = 2.0;  // limit = ratio * source pieces + offset
  int64_t max_length_offset = 20;
  int64_t min_length = 0;  // tokens before the end symbol
  int64_t max_length = 0;  // tokens with the end symbol; 0 = only the limit above
  Choice<Stopping> stopping = Stopping::kHeuristic;
  double coverage_penalty = 0;       // beta of Wu et al. 2016, eq. 14; 0 = none
  int64_t no_repeat_ngram_size = 0;  // 0 = off
  double repetition_penalty = 1;     // theta of Keskar et al. 2019; 1 = off
  bool ban_unknown = false;
  std::vector<std::string> banned_phrases = {};
  std::vector<std::string> placeholders = {};  // regular expressions of what stays as it stands
  int64_t diversity_groups = 1;                // diverse beam search; 1 = off
  double diversity_strength = 0.5;
  bool sampling = false;  // draw tokens; beam_size 1
  double temperature = 1;
  int64_t top_k = 0;  // 0 = all
  double top_p = 1;
  int64_t seed = 1;
  Choice<RiskUtility> mbr = RiskUtility::kNone;  // minimum Bayes risk
  int64_t mbr_samples = 64;
  bool retry_loops = false;
  Choice<Combination> combination = Combination::kLinear;
  int64_t alignment_layer = 0;  // decoder layer whose attention is shown, from 1; 0 = the last but one
  int64_t alignment_head = 0;   // its head that aligns words, from 1; 0 = the mean of all
  Choice<AlignmentToken> alignment_token = AlignmentToken::kOutput;
  int64_t batch_size = 32;  // sentences
  Choice<DecodingPrecision> precision = DecodingPrecision::kAuto;
  int64_t shortlist = 0;             // candidates of each source piece, of the model's lexicon; 0 = all pieces
  std::string target_language = {};  // of a model with tags of several; empty: as the lines say
  int64_t shortlist_frequent = 100;  // the most frequent target pieces are candidates of every sentence
  std::string source_language = {};  // of a model whose sources have a tag, too; empty: the model's own
};

struct EvaluationConfig {
  bool only_within_maxlen = false;                 // test only pairs within data.maxlen1 and maxlen2
  bool whole_batches = false;                      // and only those that fill batches of decoding.batch_size
  Choices<TokenizedBleuForm> tokenized_bleu = {};  // BLEU of tokens beside that of plain text
};

struct RunConfig {
  std::string dir = "runs/default";
  int64_t seed = 1;
  int64_t threads = 0;           // of a process; 0 = all processors, shared out to the processes of a machine
  int64_t process_timeout = 45;  // seconds without a sign of life from another process that end the run
  std::string device = "auto";   // auto | cpu | cuda | cuda:N
  Choice<TrainingPrecision> precision = TrainingPrecision::kAuto;
  int64_t log_every = 100;  // updates
  bool tensorboard = true;
  int64_t tensorboard_every = 0;  // updates; 0 = log_every
  bool histograms = false;        // of weights and gradients, in TensorBoard
  Choice<RunNaming> naming = RunNaming::kPlain;
  std::string evaldir, testdir;  // of the originals' results; empty: folders of the run directory
  Choice<TensorBoardTags> tensorboard_tags = TensorBoardTags::kPlain;
};

struct Config {
  DataConfig data;
  ModelConfig model;
  TrainingConfig training;
  ValidationConfig validation;
  DecodingConfig decoding;
  EvaluationConfig evaluation;
  RunConfig run;
};

/// data.keep_best: of the training pairs that score best so large a share is trained on.
struct KeepBest {
  PairScore score = PairScore::kNone;  ///< never kNone
  double share = 1;                    ///< above 0, at most 1
};
/// nullopt for what is not of the form "dual 0.7".
std::optional<KeepBest> parse_keep_best(std::string_view text);

/// One of the configured validation or test sets, however it was given.
struct ConfiguredSet {
  std::string split;                         ///< of the prepared data: "valid", "valid.dev2", "test", ...
  TextSet text;                              ///< its name is empty where it is the only one (data.eval1 and eval2)
  std::string source_option, target_option;  ///< "data.eval1", or "data.eval"
};

/// The sets of data.eval, or data.eval1 and eval2; the first one decides what is best. None: empty.
std::vector<ConfiguredSet> validation_sets(const DataConfig& data);
/// The sets of data.test, or data.test1 and test2.
std::vector<ConfiguredSet> test_sets(const DataConfig& data);

/// The training corpora that a name means, by their numbers (train1 from 0, then train_tsv): the file as train1 or
/// train_tsv has it, else the files with this name before the first dot ("europarl" of text/europarl.de.gz).
std::vector<int64_t> corpora_named(const DataConfig& data, std::string_view name);

}  // namespace nmt
