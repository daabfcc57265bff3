#include "data/preparation/preprocess.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "base/files/file.h"
#include "base/folders/output_folder.h"
#include "base/process/log.h"
#include "base/threads.h"
#include "base/unicode.h"
#include "config/value.h"
#include "data/alignment/alignment_files.h"
#include "data/manifest.h"
#include "data/pair_scores.h"
#include "data/preparation/cleaning_report.h"
#include "data/preparation/data_folder.h"
#include "data/preparation/encoder.h"
#include "data/preparation/input_files.h"
#include "data/preparation/prepared_corpus_writer.h"
#include "data/preparation/training_text.h"
#include "data/preparation/vocabulary_training.h"
#include "data/prepared_data.h"
#include "data/synthetic_text.h"
#include "text/codec/codec.h"
#include "text/codec/language_tags.h"
#include "text/corpus/cleaning.h"
#include "text/pairs/corpus_reader.h"
#include "text/pairs/pair_reader.h"

namespace nmt {
namespace {

/// That of training.init_from, which the weights need, unless they are mapped to another.
std::optional<TextCodec> initial_codec(const Config& config) {
  const auto& [from, vocabulary] = std::tie(config.training.init_from, config.training.init_vocabulary);
  if (from.empty() || vocabulary == InitVocabulary::kMap) return std::nullopt;
  return load_codec(from);
}

/// The rules of each training corpus.
std::vector<ContentRules> content_rules(const std::vector<DataConfig>& corpora, const LanguageIdentifier* languages) {
  std::vector<ContentRules> rules;
  for (const auto& data : corpora) {
    const auto corpus = std::ssize(rules);
    const bool is_judged = std::ranges::none_of(data.uncleaned, [&](const std::string& name) {
      const auto named = corpora_named(data, name);
      return std::ranges::find(named, corpus) != named.end();
    });
    rules.emplace_back(is_judged ? data.clean : Choices<CleaningRule>(), data.source_language, data.target_language,
                       languages);
  }
  return rules;
}

/// Thrown inside this file to unwind when the user asked to stop.
struct Stopped {};

/// One run of nmt-prepro, step by step.
class Preprocessor {
 public:
  Preprocessor(const Config& config, const PreprocessOptions& options, Logger& log)
      : config_(config),
        data_(config.data),
        options_(options),
        log_(log),
        splits_(list_splits(config.data)),
        all_rules_(data_.clean, data_.source_language, data_.target_language, options.languages),
        content_(content_rules(splits_[0].data, options.languages)),
        cleaning_(cleaning_options(config.data)) {}

  PreprocessResult run();

 private:
  void hash_inputs();
  void read_training(const std::filesystem::path& folder);
  void count_whole_files(const CorpusFiles& files);
  TextCodec make_codec();
  void encode_split(const Split& split, const TextCodec& codec, const std::filesystem::path& folder);
  struct SplitOutput {
    PreparedCorpusWriter writer;
    std::unique_ptr<SplitObserver> observer;
    SplitRecord record;
  };
  void encode_corpus(const Split& split, size_t corpus, const TextCodec& codec, CleaningRules& rules,
                     SplitOutput& output);
  void make_alignment_files(const TextCodec& codec, const std::filesystem::path& folder);
  void read_synthetic_texts();
  void report_selection(const Manifest& manifest);
  void report_reader(const CorpusReader& reader, const std::string& note);

  CorpusReader open(const Split& split, size_t corpus) const {
    ReadingOptions reading = reading_options(split.data[corpus]);
    if (split.is_training() && data_.bad_lines == BadLines::kSkip) reading.bad_lines = BadLinePolicy::kSkip;
    return {split.corpora[corpus], reading};
  }
  std::string normalised(std::string_view text) const { return normalised_text(text, data_); }
  /// Asked several times a second by all that takes long, so it also says each 30 s what is under way.
  bool should_stop() {
    if (pulse_.is_due())
      log_.info("{}{}", times_.under_way(), done_ > 0 ? fmt::format(", {} pairs", with_commas(done_)) : "");
    return options_.should_stop();
  }
  std::function<bool()> stop_question() {
    return [this] { return should_stop(); };
  }
  void stop_if_asked() {
    if (should_stop()) throw Stopped();
  }
  int threads() const { return config_.run.threads > 0 ? static_cast<int>(config_.run.threads) : default_threads(); }

  const Config& config_;
  const DataConfig& data_;
  const PreprocessOptions& options_;
  Logger& log_;
  StageTimes times_;
  Pulse pulse_;
  int64_t done_ = 0;  // pairs, where some are read
  std::vector<Split> splits_;
  ContentRules all_rules_;
  std::vector<ContentRules> content_;  // of each training corpus
  CleaningOptions cleaning_;
  Manifest manifest_;                             // in the making
  std::map<std::string, std::string> synthetic_;  // training files that a model wrote: which side
  HeldOutText held_out_;
  std::optional<CleaningReport> report_;  // with data.clean
  VocabularyTraining vocabulary_{data_, static_cast<uint64_t>(config_.run.seed), threads(), initial_codec(config_)};
  std::vector<int64_t> corpus_pairs_;  // of each training corpus, from the first reading
};

PreprocessResult Preprocessor::run() {
  manifest_.inputs = list_input_files(config_);
  auto other_files = options_.observer ? options_.observer->files() : std::set<std::string>();
  if (!data_.clean.empty()) other_files.insert({kDroppedFile, kCleaningPage});
  DataFolder there(config_, options_.overwrite, vocabulary_.file_names(), other_files, log_);
  if (const auto manifest = there.find_data(manifest_.inputs, vocabulary_.ready())) {
    report_selection(*manifest);
    return {PrepareOutcome::kUpToDate, cleaning_table(manifest->cleaning, cleaning_)};
  }
  there.refuse_losses(manifest_.inputs, options_.config_files);
  vocabulary_.refuse_lost_symbols();
  for (const auto& warning : input_warnings(data_)) log_.warn("{}", warning);
  OutputFolder folder(data_.dir, [&](const auto&) { return there.own_files(); });
  if (!folder.lock_problem().empty())
    log_.warn("data.dir {}: this file system has no locks ({}): start only one nmt-prepro there", data_.dir,
              folder.lock_problem());
  hash_inputs();
  read_synthetic_texts();
  {
    const auto scope = times_.measure(PreprocessStage::kReading);
    held_out_ = read_held_out(data_, all_rules_, [this](const CorpusReader& reader) {
      report_reader(reader, "never filtered");
      stop_if_asked();
    });
  }
  read_training(folder.path());
  const TextCodec codec = make_codec();
  {
    const auto writing = times_.measure(PreprocessStage::kWriting);
    manifest_.tokenizer = codec.save(folder.path());
    for (const auto& [name, text] : readable_vocabularies(codec)) write_file_atomically(folder.path() / name, text);
  }
  if (!data_.clean.empty()) report_.emplace(folder.path() / kDroppedFile, all_rules_, config_.run.seed);
  for (const auto& split : splits_) encode_split(split, codec, folder.path());
  if (report_) report_->finish(folder.path() / kCleaningPage);
  if (options_.observer) options_.observer->on_end(folder.path());
  manifest_.other_files.assign(other_files.begin(), other_files.end());
  make_alignment_files(codec, folder.path());
  manifest_.options = data_options(config_);
  manifest_.seed = static_cast<uint64_t>(config_.run.seed);
  manifest_.sampled = vocabulary_.needs_seed();
  {
    const auto writing = times_.measure(PreprocessStage::kWriting);
    manifest_.write(folder.path());
    stop_if_asked();
    warn_of_kept(folder.commit(), log_);
  }
  for (const auto& line : times_.table()) log_.info("{}", line);
  report_selection(manifest_);
  return {PrepareOutcome::kWritten, cleaning_table(manifest_.cleaning, cleaning_)};
}

void Preprocessor::hash_inputs() {
  const auto scope = times_.measure(PreprocessStage::kChecksums);
  parallel_for(std::ssize(manifest_.inputs), 1, threads(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (begin == 0 && should_stop()) return;  // the calling thread's range
      auto& input = manifest_.inputs[static_cast<size_t>(i)];
      if (input.sha256.empty()) input.sha256 = sha256_of_file(input.path);
    }
  });
  stop_if_asked();
}

/// The first reading: finds what is wrong with the files before the long work begins, counts, and gathers what
/// vocabularies are learnt from, which are the pairs that the text's own rules keep, or whole files.
void Preprocessor::read_training(const std::filesystem::path& folder) {
  const auto scope = times_.measure(PreprocessStage::kReading);
  CleaningRules rules(cleaning_, held_out_, folder);
  ProgressBar progress("reading", 0, "pairs");
  done_ = 0;
  for (size_t corpus = 0; corpus < splits_[0].corpora.size(); ++corpus) {
    CorpusReader reader = open(splits_[0], corpus);
    const bool by_pair = !data_.count_markup || !reader.has_a_file_for_each_side();
    if (!by_pair) count_whole_files(splits_[0].corpora[corpus]);
    const bool offers = by_pair && vocabulary_.is_learnt();
    const auto transform = [&](EncodedPair& pair, int) {
      if (!offers) return;
      pair.text = {normalised(pair.text.source), normalised(pair.text.target)};
      pair.hashes = PairHashes(pair.text.source, pair.text.target);
      pair.hashes.content = content_[corpus].judge(pair.text.source, pair.text.target);
    };
    const auto take = [&](const EncodedPair& pair) {
      progress.update(++done_);
      if (offers && rules.judge_text(pair.hashes) == Verdict::kKept)
        vocabulary_.offer(pair.text.source, pair.text.target);
    };
    run_pairs(reader, threads(), {.transform = transform, .take = take, .should_stop = stop_question()});
    stop_if_asked();
    corpus_pairs_.push_back(reader.count());
    progress.clear();
    report_reader(reader, "");
  }
  done_ = 0;
}

/// data.count_markup: every line counts, markup and pairs that are dropped too.
void Preprocessor::count_whole_files(const CorpusFiles& files) {
  TextReader source(LineReader(files.source), TextFormat::kPlain);
  TextReader target(LineReader(files.target), TextFormat::kPlain);
  const auto text = [&](std::string_view line) {
    return data_.repair_utf8 ? normalised(repair_utf8(line)) : normalised(line);
  };
  while (const auto line = source.next()) vocabulary_.offer(text(*line), {});
  stop_if_asked();
  while (const auto line = target.next()) vocabulary_.offer({}, text(*line));
  stop_if_asked();
}

TextCodec Preprocessor::make_codec() {
  const auto scope = times_.measure(PreprocessStage::kVocabulary);
  auto codec = vocabulary_.make_codec(stop_question(), log_);
  if (!codec) throw Stopped();
  require_room_for_sentence(codec_for(*codec, splits_[0].data[0]), data_);
  return std::move(*codec);
}

void Preprocessor::encode_split(const Split& split, const TextCodec& codec, const std::filesystem::path& folder) {
  SplitOutput output{
      .writer = PreparedCorpusWriter(folder / (split.name + ".bin")), .observer = {}, .record = {.name = split.name}};
  if (options_.observer) output.observer = options_.observer->on_split(split.name, codec, folder);
  {
    const auto encoding = times_.measure(PreprocessStage::kEncoding);
    CleaningRules rules(cleaning_, held_out_, folder);
    for (size_t corpus = 0; corpus < split.corpora.size(); ++corpus) encode_corpus(split, corpus, codec, rules, output);
  }
  const auto writing = times_.measure(PreprocessStage::kWriting);
  if (output.observer) output.observer->on_end();
  auto& [writer, observer, record] = output;
  if (writer.size() == 0) throw Error(nothing_left(manifest_.cleaning));
  record.pairs = writer.size();
  record.source_pieces = writer.source_tokens();
  record.target_pieces = writer.target_tokens();
  record.sha256 = writer.finish(&times_);
  log_.info("{}", split_summary(record));
  for (const auto& warning : unknown_warnings(record)) log_.warn("{}", warning);
  manifest_.splits.push_back(std::move(record));
}

int64_t count_unknown(const std::vector<int32_t>& ids) {
  return std::count(ids.begin(), ids.end(), SpecialIds::kUnknown);
}

void Preprocessor::encode_corpus(const Split& split, size_t corpus, const TextCodec& codec, CleaningRules& rules,
                                 SplitOutput& output) {
  const CorpusFiles& files = split.corpora[corpus];
  const int64_t expected = split.is_training() ? corpus_pairs_[corpus] : 0;
  ProgressBar progress("encoding " + files.name(), expected, "pairs");
  CleaningRow row{.name = split.row_name(corpus), .is_training = split.is_training()};
  if (const auto made = synthetic_.find(files.source.string()); made != synthetic_.end())
    row.name += fmt::format(" (synthetic {})", made->second);
  CorpusReader reader = open(split, corpus);
  CorpusEncoder::Options options{.target_text = split.is_training() ? TargetText::kNormalised : TargetText::kAsItStands,
                                 .threads = threads(),
                                 .content = split.is_training() ? &content_[corpus] : nullptr};
  const bool drops_long = split.is_training() && data_.too_long == TooLong::kDrop;
  if (drops_long && data_.tokenizer == TokenizerKind::kSentencePiece && data_.naming == DataNaming::kPlain) {
    options.most_source_pieces = data_.maxlen1;
    options.most_target_pieces = data_.maxlen2;
  }
  const TextCodec own = codec_for(codec, split.data[corpus]);
  const CorpusEncoder encoder(own, options);
  int64_t cut = 0;
  const auto take = [&](EncodedPair& pair) {
    progress.update(++done_);
    if (output.observer) output.observer->on_pair(pair);
    if (split.is_training()) {
      const int64_t cut_sides = data_.too_long == TooLong::kCut ? cut_to_maxlen(pair, data_) : 0;
      const CleaningRules::Lengths lengths{static_cast<int64_t>(pair.source.size()),
                                           static_cast<int64_t>(pair.target.size()), own.prefix_length(pair.source)};
      const Judgement judgement = rules.judge(pair.hashes, lengths, row.counts);
      if (report_) report_->add(files.name(), row.counts.read, pair.text, pair.hashes.content, judgement);
      if (judgement.verdict != Verdict::kKept) return;
      cut += cut_sides;
    } else {
      ++row.counts.read;
      ++row.counts.verdicts[static_cast<int>(Verdict::kKept)];
    }
    output.record.source_unknown += count_unknown(pair.source);
    output.record.target_unknown += count_unknown(pair.target);
    output.writer.add({.source = pair.source,
                       .target = pair.target,
                       .source_text = pair.text.source,
                       .target_text = pair.text.target,
                       .corpus = static_cast<int32_t>(corpus)});
  };
  encoder.run(reader, take, stop_question());
  done_ = 0;
  stop_if_asked();
  if (split.is_training() && reader.count() != expected) {
    throw Error(
        fmt::format("{} {}: has changed while it was read; start again", files.source_option, files.source.string()));
  }
  if (cut > 0)
    log_.info("{}: {} sentences were cut to data.maxlen1 and maxlen2 (data.too_long)", files.name(), with_commas(cut));
  if (report_)
    for (const auto& warning : report_->warnings(row)) log_.warn("{}", warning);
  row.counts.repaired_lines = reader.repaired_lines();
  manifest_.cleaning.push_back(std::move(row));
}

/// What is learnt from the prepared pairs.
void Preprocessor::make_alignment_files(const TextCodec& codec, const std::filesystem::path& folder) {
  const AlignmentFilesOptions options{.threads = threads(), .should_stop = stop_question()};
  const auto checksum = [](std::optional<std::string> made) {
    if (!made) throw Stopped();
    return std::move(*made);
  };
  if (data_.shortlist > 0) {
    const auto scope = times_.measure(PreprocessStage::kLexicon);
    manifest_.lexicon = checksum(write_lexicon(folder, codec, data_.shortlist, options, log_));
  }
  if (data_.alignment) {
    const auto scope = times_.measure(PreprocessStage::kAlignment);
    manifest_.alignment = checksum(write_alignment(folder, codec, *manifest_.find_split("train"), options, log_));
  }
}

/// Training text that nmt-translate --synthesize wrote.
void Preprocessor::read_synthetic_texts() {
  for (const auto& input : manifest_.inputs) {
    if (!input.option.starts_with("data.train") || synthetic_.contains(input.path)) continue;
    const auto text = SyntheticText::read(input.path);
    if (!text) continue;
    const std::string side = text->side == SyntheticSide::kSource ? "source" : "target";
    synthetic_.emplace(input.path, side);
    manifest_.synthetic.push_back(text->to_json());
    manifest_.synthetic.back()["file"] = input.path;
    log_.info("{}: its {} side was written by a model ({})", input.path, side,
              synthetic_text_file(input.path).filename().string());
    if (text->sha256 != input.sha256)
      log_.warn("{}: is not what {} is of: it has changed since", input.path,
                synthetic_text_file(input.path).filename().string());
    if (!vocabulary_.is_learnt() || data_.tokenizer != TokenizerKind::kSentencePiece) continue;
    for (const auto& symbol : text->symbols)
      if (std::ranges::find(data_.user_symbols, symbol) == data_.user_symbols.end())
        log_.warn("data.user_symbols: lacks {}, which stands in {}: it is cut into pieces", shown(symbol), input.path);
  }
}

/// What training takes of the pairs; the scores may be yet to come.
void Preprocessor::report_selection(const Manifest& manifest) {
  try {
    for (const auto& line : select_pairs(config_, manifest).summary) log_.info("{}", line);
  } catch (const Error& error) {
    log_.warn("{}", error.what());
  }
}

void Preprocessor::report_reader(const CorpusReader& reader, const std::string& note) {
  log_.info("{}: {} pairs{}", reader.description(), with_commas(reader.count()), note.empty() ? "" : ", " + note);
  for (const auto& [text, is_warning] : reader.notes()) is_warning ? log_.warn(text) : log_.info(text);
}

}  // namespace

PreprocessResult prepare_data(const Config& config, const PreprocessOptions& options, Logger& log) {
  try {
    return Preprocessor(config, options, log).run();
  } catch (const Stopped&) {
    return {PrepareOutcome::kStopped, ""};
  }
}

}  // namespace nmt
