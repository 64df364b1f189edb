// Elements made by hand: text is always text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element: attributes by name, "on..." are listeners; children are elements, text, or null. */
export function h(tag, attributes = {}, ...children) {
  return dressed(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function s(tag, attributes = {}, ...children) {
  return dressed(document.createElementNS(SVG, tag), attributes, children);
}

function dressed(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

const present = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined);

/** Say something to those who listen to the page. */
export function announce(words) {
  const place = document.getElementById("announce");
  place.textContent = place.textContent === words ? `${words}\u00a0` : words;
}

/** Put children into an element in place of what is there. */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
}

export const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
