
#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unicode.h"
#include "documents/formats/formats.h"
#include "documents/segments/segment.h"

namespace nmt::documents {
namespace {

bool begins_with_dash(std::string_view line) {
  while (!line.empty() && is_markup_space(line.front())) line.remove_prefix(1);
  // The speaker's line may begin with a tag: <i>- Yes.
  while (line.starts_with('<') || line.starts_with("{\\")) {
    const size_t end = line.find_first_of(">}");
    if (end == line.npos) break;
    line.remove_prefix(end + 1);
  }
  return line.starts_with('-') || line.starts_with("\u2013") || line.starts_with("\u2014");
}

/// Bytes of a dash before a speaker's words, and of the white space around it; 0 where there is none, as before "-5".
size_t length_of_dash(std::string_view line) {
  size_t at = 0;
  const auto skip_space = [&] {
    while (at < line.size() && is_markup_space(line[at])) ++at;
  };
  skip_space();
  size_t end = at;
  for (const std::string_view dash : {"-", "\u2013", "\u2014"})
    if (line.substr(at).starts_with(dash)) end = at + dash.size();
  if (end == at) return 0;
  at = end;
  if (at < line.size() && (line[at] == '-' || (line[at] >= '0' && line[at] <= '9'))) return 0;
  skip_space();
  return at;
}

/// "00:00:01,000 --> 00:00:02,000", with whatever behind it. An arrow between words is text.
bool is_line_of_times(std::string_view line) {
  const size_t arrow = line.find("-->");
  if (arrow == line.npos) return false;
  const auto is_time = [](std::string_view text) {
    while (!text.empty() && is_markup_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_markup_space(text.back())) text.remove_suffix(1);
    return text.find(':') != text.npos && text.find_first_not_of("0123456789:.,") == text.npos;
  };
  std::string_view end = line.substr(arrow + 3);
  end.remove_prefix(std::min(end.find_first_not_of(" \t"), end.size()));
  return is_time(line.substr(0, arrow)) && is_time(end.substr(0, end.find_first_of(" \t")));
}

class SubtitleReader {
 public:
  SubtitleReader(TextDocument& document, SubtitleKind kind)
      : document_(document), kind_(kind), builder_(document.bytes()) {}

  /// A line of times begins a cue, whatever stands before it. What follows is text: in SRT up to the next number and
  /// times, also behind empty lines; in WebVTT up to an empty line.
  void read() {
    const std::string_view bytes = document_.bytes();
    const bool is_vtt = kind_ == SubtitleKind::kVtt;
    const size_t first = byte_order_mark_length(bytes);
    if (is_vtt && !bytes.substr(first).starts_with("WEBVTT"))
      throw Error("WebVTT, line 1: WEBVTT is missing; correct the file or give it the ending .srt");
    enum class In { kHead, kCue, kNote } in = In::kHead;
    bool is_first = false;  // of its block
    size_t cues = 0;
    for (size_t begin = first; begin < bytes.size();) {
      const auto ends = line_ends(bytes, begin);
      const std::string_view line = bytes.substr(begin, ends.text - begin);
      if (is_white(line)) {
        add_cue();
        if (is_vtt) in = In::kHead;
        is_first = true;
      } else if (in != In::kNote && is_line_of_times(line)) {
        add_cue();
        in = In::kCue;
        ++cues;
      } else if (in == In::kCue && !is_number_of_cue(line, ends.next)) {
        lines_.push_back({begin, ends.text});
      } else if (is_vtt && is_first && is_note(line)) {
        in = In::kNote;
      }
      if (!is_white(line)) is_first = false;
      begin = ends.next;
    }
    add_cue();
    if (cues == 0 && !is_vtt && !is_white(bytes))
      throw Error("SRT, line 1: no line with times (-->) is in the file; send it as .txt");
  }

 private:
  static bool is_note(std::string_view line) {
    for (const std::string_view word : {"NOTE", "STYLE", "REGION"})
      if (line.starts_with(word) && (line.size() == word.size() || is_markup_space(line[word.size()]))) return true;
    return false;
  }

  /// Whether a line is a number and the next one, at `next`, says times.
  bool is_number_of_cue(std::string_view line, size_t next) const {
    const std::string_view bytes = document_.bytes();
    return line.find_first_not_of("0123456789 \t") == line.npos && next < bytes.size() &&
           is_line_of_times(bytes.substr(next, line_ends(bytes, next).text - next));
  }

  void add_cue() {
    const std::string_view bytes = document_.bytes();
    bool has_speakers = false;
    for (size_t i = 1; i < lines_.size(); ++i)
      has_speakers = has_speakers || begins_with_dash(bytes.substr(lines_[i].begin, lines_[i].size()));
    for (size_t i = 0; i < lines_.size();) {
      size_t end = i + 1;
      while (end < lines_.size() &&
             !(has_speakers && begins_with_dash(bytes.substr(lines_[end].begin, lines_[end].size()))))
        ++end;
      add_text({lines_[i].begin, lines_[end - 1].end});
      i = end;
    }
    lines_.clear();
  }

  void add_text(ByteRange range) {
    const bool is_vtt = kind_ == SubtitleKind::kVtt;
    const std::string_view bytes = document_.bytes();
    range.begin += length_of_dash(bytes.substr(range.begin, range.size()));  // stays, whatever a model makes of it
    add_tagged_text(builder_, bytes, range, is_vtt ? TaggedTextKind::kWebVtt : TaggedTextKind::kSubtitle);
    const size_t before = document_.segments.size();
    const bool has_carriage = bytes.substr(range.begin, range.size()).find("\r\n") != bytes.npos;
    builder_.finish({.bytes = {},
                     .text = {},
                     .encoding = is_vtt ? TextEncoding::kMarkup : TextEncoding::kPlain,
                     .line_end = has_carriage ? "\r\n" : "\n"},
                    document_.segments);
    for (size_t i = before; i < document_.segments.size(); ++i) {
      Segment& segment = document_.segments[i];
      const std::string_view own = bytes.substr(segment.bytes.begin, segment.bytes.size());
      segment.most_lines = 1 + static_cast<size_t>(std::count(own.begin(), own.end(), '\n'));
    }
  }

  TextDocument& document_;
  SubtitleKind kind_;
  SegmentBuilder builder_;
  std::vector<ByteRange> lines_;
};

}  // namespace

std::unique_ptr<TextDocument> read_subtitles(std::string_view bytes, SubtitleKind kind) {
  check_utf8(bytes, kind == SubtitleKind::kVtt ? "WebVTT" : "SRT");
  auto document = std::make_unique<TextDocument>(std::string(bytes));
  SubtitleReader(*document, kind).read();
  return document;
}

}  // namespace nmt::documents
