// One line of the text: its source, its translation, and how both are drawn.
//
// A line keeps its translation when the text around it changes. Offsets are those of JavaScript's strings; the server's are in
// characters, which differ behind an emoji.

import {element} from "./dom.js";

const segmenter = new Intl.Segmenter(undefined, {granularity: "word"});

/// A function from a number of characters to an offset.
function offsetsOf(text) {
  const characters = [...text];
  if (characters.length === text.length) return number => Math.min(number, text.length);
  const offsets = [0];
  for (const character of characters) offsets.push(offsets.at(-1) + character.length);
  return number => offsets[Math.min(number, characters.length)];
}

const overlap = (a, b) => a.begin < b.end && b.begin < a.end;

/// The words of a text, {begin, end}. Without gaps: what stands between them belongs to none.
function wordsOf(text) {
  const words = [];
  for (const {segment, index, isWordLike} of segmenter.segment(text)) {
    if (!isWordLike) continue;
    const last = words.at(-1);
    // "don't" and "well-known" are one word here, as they are for the reader.
    if (last && index === last.end + 1 && /['’\-]/.test(text[last.end])) last.end = index + segment.length;
    else words.push({begin: index, end: index + segment.length});
  }
  return words;
}

export class Line {
  /// shown: what stands there until the translation comes.
  constructor(source, shown = "") {
    this.source = source;
    this.text = source;         // the translation
    this.waits = /\p{L}/u.test(source);  // a line without letters stays as it is
    this.first = null;          // {text, links} as the server gave it, where the user chose another
    this.isTranslated = false;  // by the server
    this.links = [];            // words that belong together: {source: {begin, end}, target: {begin, end}}
    this.words = [];            // of the translation: {begin, end, span}
    this.marks = [];            // of the source: {begin, end, span}
    this.view = element("p", {className: "line", dir: "auto"});
    this.mirror = element("div", {dir: "auto"});
    this.#draw(this.waits ? shown : source);
  }

  /// An answer of /explain to this line.
  take(answer) {
    const best = answer.n_best[0];
    this.first = null;
    this.isTranslated = true;
    this.#become(best ? best.text : this.source, answer.alignment ?? []);
  }

  /// Another translation, chosen by the user; its links come later.
  choose(text, alignment = []) {
    this.first ??= {text: this.text, links: this.links};
    this.#become(text, alignment);
  }

  /// What the server gave at first.
  restore() {
    const {text, links} = this.first;
    this.first = null;
    this.#become(text, [], links);
  }

  /// It stays as it is: there is nothing to translate, or it is in the target language.
  stay() { this.#become(this.source, []); }

  #become(text, alignment, links) {
    const source = offsetsOf(this.source), target = offsetsOf(text);
    this.text = text;
    this.waits = false;
    this.links = links ?? alignment.map(words => ({
      source: {begin: source(words.source[0]), end: source(words.source[1])},
      target: {begin: target(words.target[0]), end: target(words.target[1])},
    }));
    this.#draw(text);
  }

  /// Makes both sides again: words of the translation as buttons, linked words of the source as spans.
  #draw(shown) {
    this.view.classList.toggle("waits", this.waits);
    this.words = this.waits ? [] : wordsOf(shown);
    for (const word of this.words) {
      word.span = element("span", {className: "word", tabIndex: -1, textContent: shown.slice(word.begin, word.end)});
      word.span.setAttribute("role", "button");
      word.span.setAttribute("aria-haspopup", "menu");
    }
    fill(this.view, shown, this.words);
    const ranges = new Map(this.links.map(({source}) => [`${source.begin} ${source.end}`, source]));
    this.marks = [...ranges.values()].sort((a, b) => a.begin - b.begin);
    this.marks = this.marks.filter((mark, i) => i === 0 || mark.begin >= this.marks[i - 1].end)
      .map(mark => ({...mark, span: element("span", {textContent: this.source.slice(mark.begin, mark.end)})}));
    fill(this.mirror, this.source, this.marks);
  }

  /// For a word of the translation: the spans on both sides that are to be lit.
  litByWord(word) {
    const sources = this.links.filter(link => overlap(link.target, word)).map(link => link.source);
    return [word.span, ...this.marks.filter(mark => sources.some(source => overlap(source, mark))).map(mark => mark.span)];
  }

  /// The same for a place in the source.
  litByPlace(offset) {
    const mark = this.marks.find(one => one.begin <= offset && offset <= one.end);
    if (!mark) return [];
    const targets = this.links.filter(link => overlap(link.source, mark)).map(link => link.target);
    return [mark.span, ...this.words.filter(word => targets.some(target => overlap(target, word))).map(word => word.span)];
  }
}

/// Puts text into a block, with the spans of its pieces in their places.
function fill(block, text, pieces) {
  const parts = [];
  let end = 0;
  for (const piece of pieces) {
    parts.push(text.slice(end, piece.begin), piece.span);
    end = piece.end;
  }
  parts.push(text.slice(end));
  block.replaceChildren(...(text === "" ? [element("br")] : parts));
}

/// The lines of a text. With `keep` those of `old` that have the same source are used again, in their order.
export function linesOf(text, old, keep = true) {
  const known = new Map();
  for (const line of keep ? old : []) known.set(line.source, [...(known.get(line.source) ?? []), line]);
  const sources = text.split("\n");
  const again = sources.map(source => known.get(source)?.shift());
  const used = new Set(again);
  return sources.map((source, i) => again[i] ?? new Line(source, old[i] && !used.has(old[i]) ? old[i].text : ""));
}
