// Links to seats: the host gives them to others, who join by them from any browser.

import { gamePath, linkAddress } from "./addresses.js";
import { Refusal, get, post } from "./api.js";
import { announce, fill, html } from "./dom.js";
import { noteJoined } from "./lobby.js";
import { texts } from "./texts.js";

/** @import { Game } from "./api_types.js" */

const MAX_NAME = 24; // characters of a person's name

/**
 * Get a game. Who has the link of a seat that is not taken yet is asked for a name first.
 * @param {HTMLElement} place
 * @param {string} key
 * @returns {Promise<Game>}
 */
export async function openSeat(place, key) {
  /** @type {Game} */
  let game = await get(gamePath(key));
  const [seat] = game.own;
  if (game.role === "guest" && game.seating.absent.includes(seat)) game = await askName(place, key, game);
  if (game.role === "guest") noteJoined({ key, names: game.names, rules: game.rules.named });
  return game;
}

/**
 * @param {HTMLElement} place
 * @param {string} key
 * @param {Game} game
 * @returns {Promise<Game>} when the person has joined
 */
function askName(place, key, game) {
  const [seat] = game.own;
  const others = game.names.filter((_, other) => other !== seat);
  return new Promise((resolve) => {
    const input = html("input", { maxlength: MAX_NAME, autocomplete: "nickname", name: "name" });
    const problem = html("p", { class: "problem", role: "alert" });
    const join = async (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      try {
        resolve(await post(gamePath(key, "/join"), { name: input.value.trim() || null }));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        problem.textContent = error.message;
      }
    };
    fill(
      place,
      html(
        "form",
        { class: "card alone", onsubmit: join },
        html("h1", {}, texts.joinTitle),
        html("p", {}, texts.joinWords(others, seat, texts.rules(game.rules.named))),
        html("label", {}, html("span", {}, texts.yourName), input),
        problem,
        html("p", {}, html("button", { class: "main" }, texts.join)),
        html("p", { class: "hint" }, texts.joinHelp),
      ),
    );
    input.focus();
  });
}

/** The card with the links, for the host of a game. */
export class SeatLinks {
  /** @param {import("./table_actions.js").Change} change */
  constructor(change) {
    this.change = change;
    this.element = html("section", { class: "card links", "aria-label": texts.linksTitle, hidden: true });
    this.shown = "";
  }

  /** @param {Game} game */
  show({ id, names, end, seating }) {
    const { links, absent } = seating;
    const about = JSON.stringify([names, links, absent]);
    this.element.hidden = Boolean(end) || !links || !(seating.shared || links.spectators);
    if (this.element.hidden || !links || about === this.shown) return;
    const isOpen = this.shown ? this.element.querySelector("details")?.open : absent.length > 0 || !seating.shared;
    this.shown = about;
    const seats = links.seats.flatMap((secret, seat) => {
      if (secret === null) return [];
      return [this.createLink(texts.linkOf(seat, names[seat], absent.includes(seat)), linkAddress(id, secret), seat)];
    });
    const spectators = links.spectators && this.createLink(texts.linkOfSpectators, linkAddress(id, links.spectators), null);
    fill(
      this.element,
      html(
        "details",
        { open: isOpen },
        html("summary", {}, texts.linksTitle),
        seats,
        spectators || this.createInvitation(),
        html("p", { class: "hint" }, texts.linksHelp),
        isLocal(location.hostname) ? html("p", { class: "hint" }, texts.linksLocal) : null,
      ),
    );
  }

  createInvitation() {
    return html("button", { type: "button", onclick: () => this.change("link", { link_of: null }) }, texts.inviteSpectators);
  }

  /**
   * @param {string} words
   * @param {string} address
   * @param {number | null} seat whose link it is; null for spectators
   */
  createLink(words, address, seat) {
    const input = html("input", { readonly: true, value: address, onfocus: (event) => event.target.select() });
    const copy = async () => {
      input.select();
      await navigator.clipboard?.writeText(address).catch(() => undefined); // not offered without encryption
      announce(texts.copied);
    };
    const buttons = html("div", { class: "buttons" });
    const showButtons = () =>
      fill(
        buttons,
        html("button", { type: "button", "aria-label": texts.labelled(texts.copy, words), onclick: copy }, texts.copy),
        html("button", { type: "button", "aria-label": texts.labelled(texts.newLink, words), onclick: ask }, texts.newLink),
      );
    const keep = () => {
      showButtons();
      buttons.querySelector("button")?.focus();
    };
    const ask = () => {
      fill(
        buttons,
        html("p", { role: "status" }, texts.sureToRenew(words)),
        html("button", { type: "button", onclick: () => this.change("link", { link_of: seat }) }, texts.yesRenew),
        html("button", { type: "button", onclick: keep }, texts.keepLink),
      );
      buttons.querySelector("button")?.focus();
    };
    showButtons();
    return html("div", { class: "link" }, html("label", {}, html("span", {}, words), input), buttons);
  }
}

/**
 * Return whether a host name means this machine itself.
 * @param {string} host
 */
const isLocal = (host) => host === "localhost" || host === "[::1]" || host.startsWith("127.");
