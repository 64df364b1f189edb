// Create and change elements of the page. Text is always text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | null | undefined | Child[]} Child
 * @typedef {string | number | boolean | null | undefined | ((event: any) => unknown)} Value
 * @typedef {Record<string, Value>} Attributes
 */

/**
 * Create an HTML element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes by name; "on..." are event listeners; null and false leave an attribute out
 * @param {...Child} children elements or text; null is left out
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function html(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setUp(element, attributes, children);
  return element;
}

/**
 * Create an SVG element, like `html`.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  setUp(element, attributes, children);
  return element;
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function setUp(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  element.append(...flatten(children));
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function flatten(children) {
  return children.flatMap((child) => {
    if (Array.isArray(child)) return flatten(child);
    return child === null || child === undefined ? [] : [child];
  });
}

/**
 * Find an element of index.html.
 * @param {string} id
 */
export function getElement(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element ${id}`);
  return element;
}

/**
 * Have a screen reader say something.
 * @param {string} words
 */
export function announce(words) {
  const place = getElement("announce");
  place.textContent = place.textContent === words ? `${words}\u00a0` : words;
}

/**
 * Replace the children of an element.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...flatten(children));
}

/**
 * Return whether a key belongs to the browser or to a form field, not to the page.
 * @param {KeyboardEvent} event
 */
export function isForeignKey(event) {
  return event.ctrlKey || event.altKey || event.metaKey || isInside(event, "input, select, textarea");
}

/**
 * Return whether an event happened inside an element that a selector finds.
 * @param {Event} event
 * @param {string} selector
 */
export function isInside(event, selector) {
  return event.target instanceof Element && event.target.closest(selector) !== null;
}

/** @param {number} milliseconds */
export const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
