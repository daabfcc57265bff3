// The glossary: rows of terms for each target language, kept in this browser and sent with each request.

import {byId, counted, element, icon, recall, remember} from "./dom.js";

export class Terms {
  #languages;
  #changed;
  #rows = [];  // [source, target]
  #body = byId("terms-rows");
  #keep = byId("keep-placeholders");
  #split = byId("split-sentences");
  #timer = 0;
  #said = "";  // fields(), when they were told last

  /// changed() is called, a while after the last key, when requests have other terms.
  constructor(languages, delay, changed) {
    this.#languages = languages;
    this.#changed = () => {
      const said = JSON.stringify(this.fields());
      if (said === this.#said) return;
      this.#said = said;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(changed, delay);
    };
    for (const [box, missing] of [[this.#keep, false], [this.#split, true]]) {
      box.checked = recall(box.id, missing) === true;
      box.addEventListener("change", () => {
        remember(box.id, box.checked);
        this.#changed();
      });
    }
    byId("add-term").addEventListener("click", () => {
      this.#add("", "");
      this.#body.lastElementChild.querySelector("input").focus();
    });
    this.load();
  }

  /// The terms of the target language that is chosen now.
  load() {
    const all = recall("glossary", {})[this.#languages.target], kept = Array.isArray(all) ? all.filter(Array.isArray) : [];
    this.#rows = [];
    this.#body.replaceChildren();
    for (const [source, target] of kept) this.#add(String(source ?? ""), String(target ?? ""));
    if (kept.length === 0) this.#add("", "");
    byId("terms-help").textContent = `How words are to be translated into ${this.#languages.name(this.#languages.target)}. ` +
      "Left without a translation, they stay as they are. The list stays in this browser.";
    this.#said = JSON.stringify(this.fields());
    this.#count();
  }

  /// What a request says of terms, and of sentences: those of a model of paragraphs stay together in either case.
  fields() {
    // A line that begins with # would be a comment, a tab the end of the term.
    const clean = text => text.replace(/\s+/g, " ").trim();
    const lines = this.#used().map(([source, target]) =>
      `${source.trim().startsWith("#") ? " " : ""}${clean(source)}\t${clean(target) || "\tkeep"}`);
    return {...(lines.length > 0 && {glossary: lines.join("\n")}), ...(this.#keep.checked && {keep_placeholders: true}),
      ...(!this.#split.checked && {split_sentences: false})};
  }

  #used() { return this.#rows.filter(([source]) => source.trim() !== ""); }

  #count() {
    const count = this.#used().length;
    byId("terms-count").textContent = count > 0 ? counted(count, "term") : "";
  }

  #store() {
    remember("glossary", {...recall("glossary", {}), [this.#languages.target]: this.#used()});
    this.#count();
    this.#changed();
  }

  #add(source, target) {
    const row = [source, target];
    this.#rows.push(row);
    const fields = ["Source", "Translation"].map((title, i) => {
      const field = element("input", {type: "text", value: row[i], dir: "auto", autocomplete: "off", spellcheck: false});
      field.setAttribute("aria-label", `${title}, term ${this.#rows.length}`);
      field.addEventListener("input", () => {
        row[i] = field.value;
        this.#store();
      });
      return field;
    });
    const remove = element("button", {type: "button", className: "quiet", title: "Remove this term"}, icon("close"));
    remove.setAttribute("aria-label", `Remove term ${this.#rows.length}`);
    const line = element("tr", {}, ...[...fields, remove].map(child => element("td", {}, child)));
    remove.addEventListener("click", () => {
      this.#rows.splice(this.#rows.indexOf(row), 1);
      line.remove();
      byId("add-term").focus();
      this.#store();
    });
    this.#body.append(line);
  }
}
