// A better translation for the server's collection, where it takes them.

import {post} from "./api.js";
import {announce, byId, sentence, showNotice} from "./dom.js";

export function setUpSuggestions({settings, languages, translation}) {
  const dialog = byId("suggestion"), better = byId("better"), error = byId("suggestion-error"), source = byId("source");
  byId("suggest").hidden = !settings.suggestions;
  byId("suggest").addEventListener("click", () => {
    byId("suggestion-source").textContent = source.value;
    better.value = translation.text;
    better.lang = byId("translation").lang;
    error.hidden = true;
    dialog.showModal();
    better.focus();
  });
  byId("suggestion-cancel").addEventListener("click", () => dialog.close());
  dialog.querySelector("form").addEventListener("submit", async event => {
    event.preventDefault();
    const from = languages.actualSource ?? languages.source;
    try {
      await post("suggest", {q: source.value, s: better.value, source: from, target: languages.target});
      dialog.close();
      showNotice("Thank you: the server keeps your translation.");
      announce("Thank you: the server keeps your translation.");
    } catch (refused) {
      error.textContent = sentence(refused.message);
      error.hidden = false;
    }
  });
}
