// The menu of the page: what the reader chooses by hand.

import { html } from "./dom.js";
import { LANGUAGES, chooseLanguage, language, texts } from "./texts.js";

/** Create the menu. It closes when something beside it is pressed, and by Escape. */
export function createMenu() {
  const summary = html("summary", { "aria-label": `${texts.settings} (${LANGUAGES[language].name})` }, `${language.toUpperCase()} ⚙`);
  const menu = html("details", { class: "menu" }, summary, html("div", { class: "card" }, createLanguages()));
  document.addEventListener("pointerdown", (event) => {
    if (event.target instanceof Node && !menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    summary.focus();
  });
  return menu;
}

/** Each language is named in its own words. */
function createLanguages() {
  const options = Object.entries(LANGUAGES).map(([tag, { name }]) => html("option", { value: tag, lang: tag }, name));
  const select = html("select", { onchange: (event) => chooseLanguage(event.target.value) }, options);
  select.value = language;
  return html("label", {}, html("span", {}, texts.language), select);
}
