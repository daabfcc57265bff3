// Small helpers: elements, what is kept in the browser, messages. Texts become elements by textContent only, never as HTML.

export const byId = id => document.getElementById(id);

/// A new element with these properties; children are elements or texts.
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}

/// A drawing of page.html.
export function icon(name) {
  const svg = byId("icon").content.firstElementChild.cloneNode(true);
  svg.firstElementChild.setAttribute("href", "#icon-" + name);
  return svg;
}

/// "1 line", "2 lines".
export const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/// Characters as the server counts them: code points.
export function countCharacters(text) {
  let count = 0;
  for (const _ of text) ++count;
  return count;
}

/// With a capital and a full stop, as the page's own messages have them.
export function sentence(text) {
  const ended = /[.!?…]$/.test(text) ? text : text + ".";
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}

/// What is kept in this browser, as JSON. A browser may refuse to keep anything: then all is as on the first visit.
export function recall(name, missing) {
  try {
    return JSON.parse(localStorage.getItem("nmt." + name)) ?? missing;
  } catch {
    return missing;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem("nmt." + name, JSON.stringify(value));
  } catch {
    // It holds until the page is closed.
  }
}

/// One line below the text, with a button where something can be done. A later one replaces an earlier one.
function show(id, text, action) {
  const line = byId(id), [words, button] = line.children;
  line.hidden = !text;
  words.textContent = text;
  button.hidden = !action;
  button.textContent = action ? action.label : "";
  button.onclick = action ? action.run : null;
}

export const showError = (text, action) => show("error", text, action);
export const showNotice = (text, action) => show("notice", text, action);

/// Says something to screen readers.
export function announce(text) {
  byId("announcer").textContent = text;
}
