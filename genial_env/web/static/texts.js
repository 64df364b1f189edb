// The words of the page in the reader's language. To add a language, write its file, and name it here.

import { readSetting, writeSetting } from "./settings.js";

/** @import { Words } from "./languages/en.js" */

/** @type {Record<string, {name: string, load: () => Promise<{words: Words}>}>} */
export const LANGUAGES = {
  en: { name: "English", load: () => import("./languages/en.js") },
  fr: { name: "Français", load: () => import("./languages/fr.js") },
  de: { name: "Deutsch", load: () => import("./languages/de.js") },
};

/** What was chosen by hand, else the first language of the browser that there is. */
const wanted = [readSetting("language"), ...navigator.languages.map((tag) => tag.split("-")[0])];
export const language = wanted.find((tag) => tag !== null && tag in LANGUAGES) ?? "en";
document.documentElement.lang = language;

export const texts = (await LANGUAGES[language].load()).words;

/**
 * Choose another language; the page is loaded again.
 * @param {string} tag
 */
export function chooseLanguage(tag) {
  writeSetting("language", tag);
  location.reload();
}
