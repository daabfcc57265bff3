#pragma once

#include "base/choice.h"

namespace nmt {

// Every kind that an option chooses among, declared once: the enumerators, and in the same order the words of the
// configuration. Reading, help, docs/options.md and error messages are made from it; what makes an object of a kind is
// a switch over the enum, which the compiler checks.

// ---------------------------------------------------------------------------------------------------------- data

enum class TokenizerKind { kSentencePiece, kWords };
template <>
inline constexpr auto kNames<TokenizerKind> = names("sentencepiece", "words");

enum class SentencePieceType { kBpe, kUnigram };
template <>
inline constexpr auto kNames<SentencePieceType> = names("bpe", "unigram");

/// SentencePiece's normalisation rules; Cf folds case.
enum class NormalizationRule { kNmtNfkc, kNfkc, kNmtNfkcCf, kNfkcCf, kIdentity };
template <>
inline constexpr auto kNames<NormalizationRule> = names("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity");

/// What a line of the training text is.
enum class TrainedLines { kSentences, kParagraphs };
template <>
inline constexpr auto kNames<TrainedLines> = names("sentences", "paragraphs");

/// What tells a model for several target languages which of them is wanted.
enum class LanguageTags {
  kNone,
  kTarget,  ///< a piece ">>en<<" before each source sentence
};
template <>
inline constexpr auto kNames<LanguageTags> = names("none", "target");

enum class BadLines { kStop, kSkip };  ///< lines of the training text that cannot be read
template <>
inline constexpr auto kNames<BadLines> = names("stop", "skip");
/// The rules of data.clean, in the order in which they are asked.
enum class CleaningRule {
  kAll,             ///< each of the others
  kLetters,         ///< letters of the language's script
  kCopies,          ///< both sides say the same words
  kRepetitions,     ///< one letter or word again and again
  kNumbers,         ///< that the other side does not have
  kAddresses,       ///< of the web and of e-mail
  kMarkup,          ///< tags, entities
  kEndMarks,        ///< a question and no question
  kLanguage,        ///< told by a LanguageIdentifier
  kHeldOut,         ///< stands in the validation or test sets, in any spelling
  kNearDuplicates,  ///< the same letters as a pair before
};
template <>
inline constexpr auto kNames<CleaningRule> = names("all", "letters", "copies", "repetitions", "numbers", "addresses",
                                                   "markup", "end_marks", "language", "held_out", "near_duplicates");
/// What becomes of training pairs that are longer than maxlen1 and maxlen2.
enum class TooLong { kDrop, kCut };
template <>
inline constexpr auto kNames<TooLong> = names("drop", "cut");

/// What says how good a training pair is: a column beside train.bin (data/pair_scores.h), or two of them.
enum class PairScore {
  kNone,
  kForward,   ///< a model from source to target
  kBackward,  ///< one from target to source
  kDual,      ///< both, and how far they agree (Junczys-Dowmunt 2018)
  kAligner,   ///< the word aligner
};
template <>
inline constexpr auto kNames<PairScore> = names("none", "forward", "backward", "dual", "aligner");

/// The order of words with equal counts in a vocabulary: as they were seen, or by their characters (torchtext).
enum class WordTies { kFirst, kAlphabetical };
template <>
inline constexpr auto kNames<WordTies> = names("first", "alphabetical");

enum class CharacterSet {
  kAll,
  kLatin,  ///< white space, Latin letters and the apostrophe; others are deleted (Kyubyong 2017)
};
template <>
inline constexpr auto kNames<CharacterSet> = names("all", "latin");

/// What stands around the pieces of a source sentence when the encoder reads it.
enum class SourceMarkers {
  kEnd,   ///< pieces </s>
  kBoth,  ///< <s> pieces </s>
  kNone,  ///< pieces; but an empty sentence is </s>, so that the encoder has something to read
};
template <>
inline constexpr auto kNames<SourceMarkers> = names("end", "both", "none");

/// Whose files nmt-prepro writes beside the toolkit's own.
enum class DataNaming { kPlain, kKyubyong2019 };
template <>
inline constexpr auto kNames<DataNaming> = names("plain", "kyubyong2019");

// --------------------------------------------------------------------------------------------------------- model

enum class Architecture { kTransformer, kRecurrent };
template <>
inline constexpr auto kNames<Architecture> = names("transformer", "recurrent");

/// Where normalisation stands around a sub-layer.
enum class Norm {
  kPost,  ///< LN(x + dropout(sublayer(x))): Vaswani et al. 2017
  kPre,   ///< x + dropout(sublayer(LN(x))): Xiong et al. 2020
};
template <>
inline constexpr auto kNames<Norm> = names("post", "pre");

enum class NormForm {
  kLayer,  ///< Ba et al. 2016
  kRms,    ///< Zhang and Sennrich 2019
};
template <>
inline constexpr auto kNames<NormForm> = names("layer", "rms");

/// The activation of the feed-forward nets; the _tanh ones have the approximation of GELU by tanh (Hendrycks and Gimpel
/// 2016, sec. 2).
enum class FeedForwardActivation { kRelu, kGelu, kSwish, kSwiglu, kGeglu, kGeluTanh, kGegluTanh };
template <>
inline constexpr auto kNames<FeedForwardActivation> = names("relu", "gelu", "swish", "swiglu", "geglu", "gelu_tanh",
                                                            "geglu_tanh");
/// Whether the net has a gate, a third matrix (Shazeer 2020).
constexpr bool is_gated(FeedForwardActivation activation) {
  switch (activation) {
    case FeedForwardActivation::kRelu:
    case FeedForwardActivation::kGelu:
    case FeedForwardActivation::kSwish:
    case FeedForwardActivation::kGeluTanh:
      return false;
    case FeedForwardActivation::kSwiglu:
    case FeedForwardActivation::kGeglu:
    case FeedForwardActivation::kGegluTanh:
      return true;
  }
  return false;
}

/// How the model knows the order of words (docs/positions.md). The absolute ones act on embeddings, the relative ones
/// on the scores of self-attention.
enum class PositionKind {
  kSinusoidal,
  kLearned,
  kHierarchical,
  kProduct,
  kRecurrent,
  kConvolution,
  kComplex,
  kShaw,
  kT5,
  kTransformerXl,
  kDeberta,
  kRotary,
  kAlibi,
  kNone,
};
template <>
inline constexpr auto kNames<PositionKind> = names("sinusoidal", "learned", "hierarchical", "product", "recurrent",
                                                   "convolution", "complex", "shaw", "t5", "transformer_xl", "deberta",
                                                   "rotary", "alibi", "none");

/// The form of positions `product`, for an embedding x and the trained vector w of its position.
enum class ProductForm {
  kShifted,  ///< x (1 + w)
  kPlain,    ///< x w
};
template <>
inline constexpr auto kNames<ProductForm> = names("shifted", "plain");

/// Forms of the sinusoids of a position; pair = k / 2 (interleaved) or the place of k in its half, d = features.
enum class Sinusoid {
  kInterleaved,   ///< even k sin, odd k cos of position / 10000^(2 pair / d) (Vaswani et al. 2017, sec. 3.5)
  kHalfSplit,     ///< first half sin, second half cos of the same angles
  kHalfSplitT2t,  ///< the same with position / 10000^(pair / (d/2 - 1)), as in Tensor2Tensor
  kDoubled,       ///< interleaved with twice the paper's exponent: position / 10000^(4 pair / d)
  kLegacyRaw,     ///< interleaved with position / 10000^(2k / d): pairs share no frequency (Kyubyong 2017)
};
template <>
inline constexpr auto kNames<Sinusoid> = names("interleaved", "half_split", "half_split_t2t", "doubled", "legacy_raw");

/// Initial values of tables of positions: normal with standard deviation d_model^-0.5, Xavier-uniform, normal with 1.
enum class PositionInit { kNormal, kXavier, kStandardNormal };
template <>
inline constexpr auto kNames<PositionInit> = names("normal", "xavier", "standard_normal");

/// The activation of the projections of queries, keys and values.
enum class ProjectionActivation { kNone, kRelu };
template <>
inline constexpr auto kNames<ProjectionActivation> = names("none", "relu");

/// The score of a query and a key. The last three are for recurrent models; local is general within a predictive
/// AttentionWindow, none is no attention.
enum class AttentionScoreKind {
  kScaledDot,
  kDot,
  kGeneral,
  kAdditive,
  kCosine,
  kScaledCosine,
  kLocation,
  kLocal,
  kNone,
};
template <>
inline constexpr auto kNames<AttentionScoreKind> = names("scaled_dot", "dot", "general", "additive", "cosine",
                                                         "scaled_cosine", "location", "local", "none");

/// Which part of a source a step of a recurrent decoder looks at (Luong et al. 2015, sec. 3.2).
enum class AttentionWindow {
  kNone,        ///< all of it
  kPredictive,  ///< around a predicted position ("local-p")
  kMonotonic,   ///< around the position of the step ("local-m")
};
template <>
inline constexpr auto kNames<AttentionWindow> = names("none", "predictive", "monotonic");

/// Scores to weights; none: the scores themselves.
enum class AttentionNormalization { kSoftmax, kNone };
template <>
inline constexpr auto kNames<AttentionNormalization> = names("softmax", "none");

/// What stands for self-attention in decoder blocks.
enum class MixerKind { kAttention, kAverage, kSsru };
template <>
inline constexpr auto kNames<MixerKind> = names("attention", "average", "ssru");

enum class TiedEmbeddings {
  kAll,     ///< source, target and output are one table
  kTarget,  ///< target and output
  kNone,
};
template <>
inline constexpr auto kNames<TiedEmbeddings> = names("all", "target", "none");

/// Xavier-uniform, normal with standard deviation d_model^-0.5, normal with 1, as other matrices.
enum class EmbeddingInit { kXavier, kNormal, kStandardNormal, kInit };
template <>
inline constexpr auto kNames<EmbeddingInit> = names("xavier", "normal", "standard_normal", "init");

/// Xavier-uniform, normal with standard deviation init_std, uniform within init_range, uniform within 1 / sqrt(inputs).
enum class MatrixInit { kXavier, kNormal, kUniform, kFanIn };
template <>
inline constexpr auto kNames<MatrixInit> = names("xavier", "normal", "uniform", "fan_in");

/// Initial values of biases: uniform within init_range, or within 1 / sqrt(inputs) of their product.
enum class BiasInit { kZero, kUniform, kFanIn };
template <>
inline constexpr auto kNames<BiasInit> = names("zero", "uniform", "fan_in");

enum class DeepInitKind {
  kNone,
  kDepthScaled,  ///< Zhang et al. 2019
  kDeepNet,      ///< Wang et al. 2022
};
template <>
inline constexpr auto kNames<DeepInitKind> = names("none", "depth_scaled", "deepnet");

/// Initial values of score functions in recurrent models: as other matrices; normal of 0.001, v zero (Bahdanau et al.
/// 2015, B.1).
enum class AttentionInit { kInit, kBahdanau };
template <>
inline constexpr auto kNames<AttentionInit> = names("init", "bahdanau");

/// Initial values of matrices from state to state.
enum class RecurrentInit { kXavier, kOrthogonal, kNormal, kUniform, kFanIn };
template <>
inline constexpr auto kNames<RecurrentInit> = names("xavier", "orthogonal", "normal", "uniform", "fan_in");

enum class CellKind { kGru, kLstm, kElman };
template <>
inline constexpr auto kNames<CellKind> = names("gru", "lstm", "elman");

enum class DecoderOrder {
  kBahdanau,  ///< the state before asks, and the context enters the cell
  kLuong,     ///< the new state asks
};
template <>
inline constexpr auto kNames<DecoderOrder> = names("bahdanau", "luong");

/// The decoder's first state: of the encoder's last states of both ends, of the backward one, of the mean of all; its
/// last states as they are, layer by layer; zero.
enum class InitialState { kLast, kBackward, kMean, kCopy, kZero };
template <>
inline constexpr auto kNames<InitialState> = names("last", "backward", "mean", "copy", "zero");

/// What the output layer reads of state, context and embedding.
enum class Readout { kLinear, kTanh, kMaxout };
template <>
inline constexpr auto kNames<Readout> = names("linear", "tanh", "maxout");

/// Which state the readout of Bahdanau's order reads: that after the step, or that before it (Bahdanau et al. 2015,
/// A.2.2: t_i of s_{i-1}, y_{i-1} and c_i).
enum class ReadoutState { kNew, kPrevious };
template <>
inline constexpr auto kNames<ReadoutState> = names("new", "previous");

// ------------------------------------------------------------------------------------------------------ training

enum class BatchType { kSentences, kTokens };
template <>
inline constexpr auto kNames<BatchType> = names("sentences", "tokens");

/// What becomes of an epoch's short last batch.
enum class LastBatch {
  kKeep,
  kDrop,
  kFill,  ///< it gets other pairs of the pass, so that every batch is full (Kyubyong 2019)
};
template <>
inline constexpr auto kNames<LastBatch> = names("keep", "drop", "fill");

/// What ends a stage of a training: the run; so many epochs of it; an update of the run; so many validations in a row
/// without a new best.
enum class StageEnd { kRun, kEpochs, kUpdate, kStalled };
template <>
inline constexpr auto kNames<StageEnd> = names("until_end", "until_epochs", "until_update", "until_stalled");

enum class ScheduleKind { kInverseSqrt, kNoam, kLinear, kCosine, kPolynomial, kPlateau, kHalving, kConstant };
template <>
inline constexpr auto kNames<ScheduleKind> = names("inverse_sqrt", "noam", "linear", "cosine", "polynomial", "plateau",
                                                   "halving", "constant");

enum class OptimizerKind { kAdam, kAdamW, kRadam, kAdafactor, kSgd, kAdadelta };
template <>
inline constexpr auto kNames<OptimizerKind> = names("adam", "adamw", "radam", "adafactor", "sgd", "adadelta");

/// What the loss of an update is divided by, and so the gradient and its norm.
enum class LossMean {
  kTokens,     ///< target tokens
  kSentences,  ///< pairs, as in programs of 2014 and 2015: gradients are longer by the length of a sentence
};
template <>
inline constexpr auto kNames<LossMean> = names("tokens", "sentences");

enum class WeightDecayForm {
  kDecoupled,  ///< lr * decay of each weight is taken off it (AdamW)
  kGradient,   ///< decay * weight joins the gradient (L2)
};
template <>
inline constexpr auto kNames<WeightDecayForm> = names("decoupled", "gradient");

/// Where the smoothed share eps of the probability goes.
enum class SmoothingForm {
  kAll,              ///< evenly to all V classes, the label among them: eps / V each (Szegedy et al. 2016, sec. 7)
  kOthers,           ///< evenly to the V - 1 other classes
  kOthersNormalized  ///< the same, and the loss less its least value (the entropy of q): the best loss is 0
};
template <>
inline constexpr auto kNames<SmoothingForm> = names("all", "others", "others_normalized");

enum class ObjectiveKind {
  kCrossEntropy,
  kRDrop,         ///< Liang et al. 2021
  kSimCut,        ///< Gao et al. 2022
  kDistillation,  ///< Kim and Rush 2016, word by word
};
template <>
inline constexpr auto kNames<ObjectiveKind> = names("cross_entropy", "rdrop", "simcut", "distillation");

/// The vocabulary of a run with training.init_from: the model's own, or another one, whose pieces get the model's rows
/// where both have them, and else begin as the mean of the rows that spell them.
enum class InitVocabulary { kSame, kMap };
template <>
inline constexpr auto kNames<InitVocabulary> = names("same", "map");

/// What a dropped word is replaced by: <unk>, or a zero embedding.
enum class WordDropoutForm { kUnknown, kZero };
template <>
inline constexpr auto kNames<WordDropoutForm> = names("unknown", "zero");

// ---------------------------------------------------------------------------------------------------- validation

enum class ValidationMetric { kLoss, kBleu, kChrf };
template <>
inline constexpr auto kNames<ValidationMetric> = names("loss", "bleu", "chrf");

enum class BestOf { kFirst, kMean };  ///< validation sets, whose score decides which weights are best
template <>
inline constexpr auto kNames<BestOf> = names("first", "mean");

// ------------------------------------------------------------------------------------------------------ decoding

enum class LengthPenalty {
  kPaper,   ///< score / ((5 + n) / 6)^alpha, n with the end symbol (Wu et al. 2016, eq. 14; Vaswani et al. 2017)
  kSimple,  ///< score / n^alpha
};
template <>
inline constexpr auto kNames<LengthPenalty> = names("paper", "simple");

/// When the search of a sentence ends before the length limit; the rules stand at search().
enum class Stopping {
  kHeuristic,  ///< nothing live can win, or enough are finished and what lives has fallen behind
  kOptimal,    ///< nothing live can win any more: the result is that of a search up to the length limit
  kFirst,      ///< beam_size hypotheses are finished
};
template <>
inline constexpr auto kNames<Stopping> = names("heuristic", "optimal", "first");

/// Which step's attention says where a target token comes from.
enum class AlignmentToken {
  kOutput,  ///< that which writes the token
  kInput,   ///< that which reads it, one later (Chen et al. 2020)
};
template <>
inline constexpr auto kNames<AlignmentToken> = names("output", "input");

/// How the distributions of an ensemble become one.
enum class Combination {
  kLinear,     ///< the weighted mean of the probabilities
  kLogLinear,  ///< the weighted mean of the log-probabilities, made a distribution again
};
template <>
inline constexpr auto kNames<Combination> = names("linear", "log_linear");

/// What minimum Bayes risk decoding compares candidates by: sentence scores as sacreBLEU's.
enum class RiskUtility { kNone, kChrf, kBleu };
template <>
inline constexpr auto kNames<RiskUtility> = names("none", "chrf", "bleu");

/// kAuto: bf16 where the processor or GPU computes in it, else fp32.
enum class DecodingPrecision { kAuto, kFp32, kBf16, kFp16, kInt8 };
template <>
inline constexpr auto kNames<DecodingPrecision> = names("auto", "fp32", "bf16", "fp16", "int8");

// ---------------------------------------------------------------------------------------------------- evaluation

/// BLEU of translation and reference as the Moses tokenizer cuts them, or of text that is tokenised already, as it is.
/// kCompoundSplit: cased, and compounds are split at dashes, what papers on WMT 2014 English-German print.
enum class TokenizedBleuForm { kCased, kLowercase, kCompoundSplit, kAsIs, kAsIsLowercase };
inline constexpr bool takes_moses_tokens(TokenizedBleuForm form) {
  return form != TokenizedBleuForm::kAsIs && form != TokenizedBleuForm::kAsIsLowercase;
}
template <>
inline constexpr auto kNames<TokenizedBleuForm> = names("cased", "lowercase", "compound_split", "as_is",
                                                        "as_is_lowercase");

// ----------------------------------------------------------------------------------------------------------- run

enum class TrainingPrecision { kAuto, kFp32, kBf16, kFp16 };
template <>
inline constexpr auto kNames<TrainingPrecision> = names("auto", "fp32", "bf16", "fp16");

/// Whose names checkpoints and results have beside the toolkit's own.
enum class RunNaming { kPlain, kKyubyong2019, kKyubyong2017 };
template <>
inline constexpr auto kNames<RunNaming> = names("plain", "kyubyong2019", "kyubyong2017");

/// Names of curves and texts: the toolkit's own, or where they have them, those of the original programs.
enum class TensorBoardTags {
  kPlain,
  kKyubyong2019,  ///< loss, lr, global_step; texts sent1, pred, sent2
  kKyubyong2017,  ///< mean_loss, acc
  kPrenorm        ///< train/loss, train/acc, train/learning_rate
};
template <>
inline constexpr auto kNames<TensorBoardTags> = names("plain", "kyubyong2019", "kyubyong2017", "prenorm");

}  // namespace nmt
