// What the reader has chosen by hand; the browser keeps it.

/**
 * Return what was chosen; null if nothing was, or the browser keeps nothing.
 * @param {string} name
 */
export function readSetting(name) {
  try {
    return localStorage.getItem(`genial ${name}`);
  } catch {
    return null;
  }
}

/**
 * Keep a choice, if the browser keeps anything.
 * @param {string} name
 * @param {string} value
 */
export function writeSetting(name, value) {
  try {
    localStorage.setItem(`genial ${name}`, value);
  } catch {
    // it lasts as long as the page then
  }
}
