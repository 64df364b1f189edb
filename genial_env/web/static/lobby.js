// Before a game: the invitation code of the server, and the games that were joined by a link.

import { Refusal, post } from "./api.js";
import { fill, html } from "./dom.js";
import { texts } from "./texts.js";

/** @import { NamedRules } from "./api_types.js" */

/** @typedef {{key: string, names: string[], rules: NamedRules}} Joined */

const STORED = "genial-joined";
const MOST = 20; // games that are remembered

/**
 * Ask for the invitation code until it is right.
 * @param {HTMLElement} place
 * @param {string} [code] the first to be tried
 * @returns {Promise<void>}
 */
export function askInvitation(place, code) {
  return new Promise((resolve) => {
    const input = html("input", { autocomplete: "off", autocapitalize: "characters", value: code ?? "" });
    const problem = html("p", { class: "problem", role: "alert" });
    const enter = async () => {
      try {
        await post("/api/invitation", { code: input.value });
        resolve();
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        problem.textContent = error.message;
      }
    };
    const onsubmit = (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      enter();
    };
    fill(
      place,
      html(
        "form",
        { class: "card alone", onsubmit },
        html("h1", {}, texts.invitationTitle),
        html("p", {}, texts.invitationHelp),
        html("label", {}, html("span", {}, texts.invitationCode), input),
        problem,
        html("p", {}, html("button", { class: "main" }, texts.enter)),
      ),
    );
    input.focus();
    if (code) enter();
  });
}

/** @returns {Joined[]} the games that were joined in this browser, the last first */
function readJoined() {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? "[]");
  } catch {
    return [];
  }
}

/** @param {Joined[]} games */
function writeJoined(games) {
  try {
    localStorage.setItem(STORED, JSON.stringify(games.slice(0, MOST)));
  } catch {
    // the browser stores nothing: the link still works
  }
}

/**
 * Remember a game that was joined.
 * @param {Joined} joined
 */
export const noteJoined = (joined) => writeJoined([joined, ...readJoined().filter(({ key }) => key !== joined.key)]);

/** Create the list of the games that were joined; null if there are none. */
export function listJoined() {
  const games = readJoined();
  if (!games.length) return null;
  const list = html("ul", { class: "games" });
  const show = () => {
    const items = readJoined().map(({ key, names, rules }) => {
      const forget = () => {
        writeJoined(readJoined().filter((each) => each.key !== key));
        show();
      };
      const words = names.join(", ");
      return html(
        "li",
        {},
        html("a", { href: `#/game/${key}` }, words),
        html("span", { class: "hint" }, texts.rules(rules)),
        html("button", { type: "button", class: "quiet", "aria-label": texts.labelled(texts.forget, words), onclick: forget }, texts.forget),
      );
    });
    fill(list, items);
  };
  show();
  return html("div", {}, html("h2", {}, texts.joinedGames), list);
}
