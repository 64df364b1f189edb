// The menu of the page: what the reader chooses by hand.

import { html } from "./dom.js";
import { readSetting, writeSetting } from "./settings.js";
import { soundsAreOn, turnSounds } from "./sounds.js";
import { LANGUAGES, chooseLanguage, language, texts } from "./texts.js";

/** Create the menu. It closes when something beside it is pressed, and by Escape. */
export function createMenu() {
  const summary = html(
    "summary",
    {},
    `${language.toUpperCase()} `,
    html("span", { "aria-hidden": true }, "⚙"),
    html("span", { class: "unseen" }, texts.settings),
  );
  const menu = html("details", { class: "menu" }, summary, html("div", { class: "card" }, createLanguages(), createThemes(), createSounds()));
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

/** Light, dark, or as the system. */
function createThemes() {
  const options = Object.entries(texts.themes).map(([value, words]) => html("option", { value }, words));
  const choose = (/** @type {Event & {target: HTMLSelectElement}} */ { target: { value } }) => {
    document.documentElement.dataset.theme = value;
    writeSetting("theme", value);
  };
  const select = html("select", { onchange: choose }, options);
  select.value = readSetting("theme") ?? "";
  return html("label", {}, html("span", {}, texts.theme), select);
}

function createSounds() {
  const box = html("input", { type: "checkbox", onchange: (event) => turnSounds(event.target.checked) });
  box.checked = soundsAreOn();
  return html("label", { class: "check" }, box, html("span", {}, texts.sounds));
}
