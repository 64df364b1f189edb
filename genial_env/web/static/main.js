// The page shows one screen at a time; the address behind "#" says which.

import { Refusal, post } from "./api.js";
import { fill, getElement, html } from "./dom.js";
import { openGame } from "./game.js";
import { askInvitation } from "./lobby.js";
import { openIntroduction } from "./introduction.js";
import { createMenu } from "./menu.js";
import { findKeptSetup, keepPage } from "./offline.js";
import { openReplay } from "./replay.js";
import { addressOfRules, openRules } from "./rules.js";
import { openStart } from "./start.js";
import { texts } from "./texts.js";
import { setLook } from "./tiles.js";

/** @import { Setup } from "./api_types.js" */

/**
 * A screen fills the element that it is given. It returns what to do when it is left.
 * @typedef {(place: HTMLElement) => Promise<(() => void) | void>} Screen
 */

const main = getElement("main");
let leave = () => {};
/** @type {Setup | null} */
let setup = null;

/**
 * Find the screen for an address.
 * @param {string} address
 * @param {Setup} sent
 * @returns {Screen}
 */
function findScreen(address, sent) {
  const [, first, second, third] = address.split("/");
  if (first === "rules") return openRules;
  if (first === "introduction") return openIntroduction;
  if (first === "invitation" || !(sent.invited || second?.includes("~"))) {
    return (place) => openInvited(place, first === "invitation" ? second : undefined, sent);
  }
  if (first === "game" && second) return (place) => openGame(place, second);
  if (first === "replay") return (place) => openReplay(place, second, third);
  const rest = (/** @type {number} */ from) => decodeURI(address.split("/").slice(from).join("/"));
  if (first === "analysis") {
    return async (place) => (await import("./analysis.js")).openAnalysis(place, rest(2), sent.choices);
  }
  if (first === "lessons") return async (place) => (await import("./lessons.js")).openLessons(place, second ?? "", rest(3));
  return (place) => openStart(place, sent.choices);
}

/**
 * Ask for the invitation code, then show the start.
 * @param {HTMLElement} place
 * @param {string | undefined} code of the address
 * @param {Setup} sent
 */
async function openInvited(place, code, sent) {
  if (!sent.invited) await askInvitation(place, code);
  sent.invited = true;
  if (code !== undefined) history.replaceState(null, "", "#/"); // it need not stay in the address
  await openStart(place, sent.choices);
}

async function showScreen() {
  leave();
  leave = () => {};
  const place = html("div", { class: "screen" });
  fill(main, place);
  document.title = texts.title;
  try {
    if (setup === null) {
      setup = await askForSetup();
      setLook(setup.look);
    }
    leave = (await findScreen(location.hash, setup)(place)) ?? (() => {});
  } catch (error) {
    fill(place, createErrorCard(error));
  }
}

/**
 * Begin the session. Without an answer of the server the page goes on with what it said before, if the browser kept it.
 * @returns {Promise<Setup>}
 */
async function askForSetup() {
  try {
    const sent = await post("/api/session", {});
    keepPage(sent, [addressOfRules]);
    return sent;
  } catch (error) {
    const kept = findKeptSetup();
    if (kept === null || !(error instanceof Refusal) || error.status !== 0) throw error;
    return kept;
  }
}

/**
 * Say what went wrong, and offer a way out.
 * @param {unknown} error
 */
function createErrorCard(error) {
  if (!(error instanceof Refusal)) console.error(error);
  const reload = html("button", { type: "button", onclick: () => location.reload() }, texts.reload);
  return html(
    "div",
    { class: "card", role: "alert" },
    html("p", {}, error instanceof Refusal ? error.message : texts.pageError),
    html("p", {}, html("a", { href: "#/" }, texts.toStart), " · ", html("a", { href: "#/rules" }, texts.rulesPage), " · ", reload),
  );
}

const pages = getElement("pages");
pages.setAttribute("aria-label", texts.pages);
fill(
  pages,
  html("a", { href: "#/" }, texts.playPage),
  html("a", { href: "#/analysis" }, texts.analysisPage),
  html("a", { href: "#/lessons" }, texts.lessonsPage),
  html("a", { href: "#/replay" }, texts.reviewPage),
  html("a", { href: "#/rules" }, texts.rulesPage),
  createMenu(),
);
addEventListener("hashchange", async () => {
  await showScreen();
  main.focus({ preventScroll: true });
});
showScreen();
