// The rules with drawings. docs/rules_text.py makes the text from the pages of the documentation.

import { get } from "./api.js";
import { fill, html } from "./dom.js";
import { LANGUAGES, language, texts } from "./texts.js";

/** @import { Attributes } from "./dom.js" */

/** @typedef {[string, Attributes, ...(string | Block)[]]} Block an element: its tag, attributes and children */

const LANGUAGES_OF_RULES = ["en", "fr", "de"];

const found = LANGUAGES_OF_RULES.includes(language) ? language : LANGUAGES_OF_RULES[0];
export const addressOfRules = `/static/rules/${found}.json`;

/** @type {Record<string, keyof HTMLElementTagNameMap>} */
const TAGS = Object.fromEntries(
  /** @type {const} */ (
    ["a", "em", "h2", "h3", "img", "li", "ol", "p", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"]
  ).map((tag) => [tag, tag]),
);

/** @param {HTMLElement} place */
export async function openRules(place) {
  document.title = `${texts.rulesPage} · ${texts.title}`;
  /** @type {Block[]} */
  const blocks = await get(addressOfRules);
  fill(
    place,
    html(
      "div",
      { class: "alone rules" },
      html("h1", {}, texts.rulesPage),
      html("p", {}, html("a", { class: "button main", href: "#/introduction" }, texts.tryIntroduction)),
      found === language ? null : html("p", { class: "hint" }, texts.rulesIn(LANGUAGES[found].name)),
      html("div", { class: "card", lang: found }, blocks.map(createElement)),
    ),
  );
}

/**
 * @param {Block} block
 * @returns {HTMLElement}
 */
function createElement([tag, attributes, ...children]) {
  const name = TAGS[tag] ?? "span";
  const inside = children.map((child) => (typeof child === "string" ? child : createElement(child)));
  if (name === "img") return html("img", { ...attributes, src: `/static/rules/${attributes.src}`, loading: "lazy" });
  if (name === "table") return html("div", { class: "scroll", tabindex: 0 }, html("table", {}, inside));
  if (name === "th") return inside.length ? html("th", { scope: "col" }, inside) : html("td");
  if (name === "a") return html("a", { href: "#/rules", onclick: (event) => follow(event, String(attributes.href)) }, inside);
  return html(name, name === "h2" || name === "h3" ? { ...attributes, tabindex: -1 } : attributes, inside);
}

/**
 * Go to a heading; the address stays that of the page.
 * @param {Event} event
 * @param {string} anchor
 */
function follow(event, anchor) {
  event.preventDefault();
  const heading = document.getElementById(anchor.slice(1));
  heading?.scrollIntoView();
  heading?.focus({ preventScroll: true });
}
