// Puts the page together: asks the server what it has, then wires the parts.

import {Alternatives} from "./alternatives.js";
import {get, setUpKey} from "./api.js";
import {Details} from "./details.js";
import {Documents} from "./documents.js";
import {announce, byId, remember, sentence, showError} from "./dom.js";
import {Terms} from "./glossary.js";
import {Languages} from "./languages.js";
import {setUpSuggestions} from "./suggestion.js";
import {Translation} from "./translation.js";
import {Words} from "./words.js";

function setUpTheme() {
  const button = byId("theme"), root = document.documentElement, themes = ["system", "light", "dark"];
  const now = () => root.dataset.theme ?? "system";
  const following = () => themes[(themes.indexOf(now()) + 1) % themes.length];
  const show = () => {
    button.title = `Colours: ${now()}. Change to ${following()}`;
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    const next = following();
    if (next === "system") delete root.dataset.theme;
    else root.dataset.theme = next;
    remember("theme", next);
    show();
  });
  show();
}

/// Returns a function that brings a tab to the front: "text" or "documents".
function setUpTabs() {
  const tabs = [byId("text-tab"), byId("documents-tab")];
  const show = chosen => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      byId(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
    }
    byId("details").hidden = chosen !== tabs[0];
  };
  for (const [i, tab] of tabs.entries()) {
    tab.addEventListener("click", () => show(tab));
    tab.addEventListener("keydown", event => {
      const other = tabs[1 - i];
      if (!["ArrowLeft", "ArrowRight"].includes(event.key) || other.hidden) return;
      show(other);
      other.focus();
    });
  }
  return name => show(byId(name + "-tab"));
}

/// Also where the browser gives no clipboard to a page that came without TLS.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

function setUpCopy(translation) {
  const button = byId("copy"), use = button.querySelector("use");
  button.addEventListener("click", async () => {
    await copyText(translation.text);
    announce("The translation is copied");
    use.setAttribute("href", "#icon-done");
    button.focus();
    setTimeout(() => use.setAttribute("href", "#icon-copy"), 1500);
  });
}

function setUpShortcuts({translation}) {
  const dialog = byId("shortcuts");
  byId("shortcuts-button").addEventListener("click", () => dialog.showModal());
  addEventListener("keydown", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    const act = event.key === "Enter" ? (event.shiftKey ? () => byId("copy").click() : () => translation.now())
      : event.code === "KeyS" && event.shiftKey ? () => byId("swap").click()
      : event.key === "/" ? () => dialog.open || dialog.showModal()
      : null;
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/// A link may bring its text along, .../#Guten%20Morgen: it stays in the browser until it is translated.
function textOfAddress() {
  const text = location.hash.slice(1);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function start() {
  const [settings, all] = await Promise.all([get("frontend/settings"), get("languages")]);
  let terms, translation;
  const languages = new Languages(all, settings, () => {
    terms.load();
    translation.again();
  });
  terms = new Terms(languages, settings.frontendTimeout, () => translation.again());
  const context = {settings, languages, terms};
  translation = context.translation = new Translation(settings, languages, terms, () => {
    alternatives.close();
    details.refresh();
  });
  const alternatives = new Alternatives(context), details = new Details(context);
  context.words = new Words(translation, (line, word) => alternatives.open(line, word));
  setUpKey(settings, () => translation.now());
  setUpSuggestions(context);
  setUpCopy(translation);
  setUpShortcuts(context);
  byId("clear").addEventListener("click", () => {
    translation.setText("");
    byId("source").focus();
  });
  byId("swap").addEventListener("click", () => {
    const text = translation.text;
    if (!languages.swap()) return;
    terms.load();
    byId("source").value = text;
    translation.again();
  });
  const showTab = setUpTabs();
  if (settings.filesTranslation) {
    byId("documents-tab").hidden = false;
    new Documents(context, () => showTab("documents"));
  }
  const fromAddress = () => { if (location.hash.length > 1) translation.setText(textOfAddress()); };
  addEventListener("hashchange", fromAddress);
  // What was typed before the answer came, or what the browser kept.
  if (location.hash.length > 1) fromAddress();
  else if (byId("source").value) translation.textChanged(0);
  document.body.dataset.ready = "";
}

setUpTheme();
start().catch(error => showError(sentence(error.message), {label: "Try again", run: () => location.reload()}));
