// The words of the translation: marks those that belong together, on both sides, and leads the keyboard from word to word.

import {byId} from "./dom.js";

export class Words {
  #translation;
  #view = byId("translation");
  #source = byId("source");
  #mirror = byId("mirror");
  #lit = [];

  /// open(line, word) is called for a word that was clicked, or entered.
  constructor(translation, open) {
    this.#translation = translation;
    const openAt = target => {
      const found = this.#find(target);
      if (found) open(found.line, found.word);
    };
    this.#view.addEventListener("click", event => openAt(event.target));
    this.#view.addEventListener("keydown", event => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        openAt(event.target);
      } else if (!event.ctrlKey && !event.altKey && !event.metaKey) {
        this.#move(event);
      }
    });
    for (const type of ["pointerover", "focusin"])
      this.#view.addEventListener(type, event => this.#lightWord(event.target));
    for (const type of ["pointerleave", "focusout"]) this.#view.addEventListener(type, () => this.#light([]));
    this.#source.addEventListener("pointermove", event => this.#lightUnder(event));
    for (const type of ["pointerleave", "blur", "input"]) this.#source.addEventListener(type, () => this.#light([]));
    document.addEventListener("selectionchange", () => this.#lightCaret());
  }

  /// Puts the focus on the word that begins at `begin` or behind it, else on the line's last.
  focus(line, begin) {
    const word = line.words.find(one => one.begin >= begin) ?? line.words.at(-1);
    if (word) this.#focus(word.span);
  }

  #find(span) {
    for (const line of this.#translation.lines) {
      const word = line.view.contains(span) && line.words.find(one => one.span === span);
      if (word) return {line, word};
    }
    return null;
  }

  #light(spans) {
    for (const span of this.#lit) span.classList.remove("lit");
    this.#lit = spans;
    for (const span of spans) span.classList.add("lit");
  }

  #lightWord(span) {
    const found = this.#find(span);
    this.#light(found ? found.line.litByWord(found.word) : []);
  }

  /// The pointer is over the source, whose words stand in the mirror below.
  #lightUnder(event) {
    const span = document.elementsFromPoint(event.clientX, event.clientY)
      .find(one => one.tagName === "SPAN" && this.#mirror.contains(one));
    const line = span && this.#translation.lines.find(one => one.mirror.contains(span));
    const mark = line?.marks.find(one => one.span === span);
    this.#light(mark ? line.litByPlace(mark.begin) : []);
  }

  #lightCaret() {
    if (document.activeElement !== this.#source) return;
    let offset = this.#source.selectionStart;
    for (const line of this.#translation.lines) {
      if (offset <= line.source.length) return this.#light(line.litByPlace(offset));
      offset -= line.source.length + 1;
    }
  }

  #focus(span) {
    this.#view.querySelector('.word[tabindex="0"]')?.setAttribute("tabindex", "-1");
    span.tabIndex = 0;
    span.focus();
  }

  #move(event) {
    const found = this.#find(event.target);
    if (!found) return;
    const lines = this.#translation.lines.filter(line => line.words.length > 0), row = lines.indexOf(found.line);
    const right = getComputedStyle(found.line.view).direction === "rtl" ? -1 : 1;
    const all = lines.flatMap(line => line.words), place = all.indexOf(found.word);
    const word = {
      ArrowRight: () => all[place + right],
      ArrowLeft: () => all[place - right],
      ArrowDown: () => lines[row + 1]?.words[0],
      ArrowUp: () => lines[row - 1]?.words[0],
      Home: () => found.line.words[0],
      End: () => found.line.words.at(-1),
    }[event.key]?.();
    if (!word) return;
    event.preventDefault();
    this.#focus(word.span);
  }
}
