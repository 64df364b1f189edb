// What can be done beside playing: stop an agent's thinking, let another play, take back, resign.

import { post } from "./api.js";
import { fill, html } from "./dom.js";
import { texts } from "./texts.js";

/** @import { Game } from "./api_types.js" */

/**
 * Send a change of who plays; `what` is the last part of its address.
 * @typedef {(what: string, data: object) => unknown} Change
 */

/**
 * @param {string} words
 * @param {() => unknown} onclick
 * @param {string} [look] a class
 */
const createButton = (words, onclick, look) => html("button", { type: "button", class: look, onclick }, words);

/** Below the board, while an agent thinks for long, or when its thinking was cancelled. */
export class ThinkingControls {
  /**
   * @param {Change} change
   * @param {() => unknown} resume
   */
  constructor(change, resume) {
    this.change = change;
    this.resume = resume;
    this.element = html("div", { class: "buttons", hidden: true });
    this.shown = "";
  }

  /**
   * @param {Game} game
   * @param {boolean} isLong whether the agent to play has been thinking for long
   */
  show({ stopped, waits, end, role, rules }, isLong) {
    const isOff = waits || end || role === "spectator";
    const wanted = isOff ? "" : stopped ? "stopped" : isLong ? "thinking" : "";
    if (wanted === this.shown) return;
    this.shown = wanted;
    this.element.hidden = wanted === "";
    fill(this.element, wanted === "thinking" ? createButton(texts.stopThinking, () => this.change("stop", {})) : null);
    if (wanted === "stopped") this.offerOthers(rules.named);
  }

  /** @param {object} rules */
  async offerOthers(rules) {
    fill(this.element, createButton(texts.thinkOn, this.resume, "main"));
    const { agents } = await post("/api/rules", rules).catch(() => ({ agents: [] }));
    if (this.shown !== "stopped" || !agents.length) return;
    const options = agents.map((/** @type {string} */ name) => html("option", { value: name }, name));
    const select = html("select", { "aria-label": texts.otherAgent }, options);
    select.value = agents.includes("denial") ? "denial" : agents[0];
    this.element.append(select, createButton(texts.letPlay, () => this.change("replace", { agent: select.value })));
  }
}

/** Beside the board: take back and resign, and the answer to who wants to take back. */
export class TableActions {
  /** @param {Change} change */
  constructor(change) {
    this.change = change;
    this.element = html("div", { class: "table-actions", hidden: true });
    this.asks = false; // whether it is asked if the person really resigns
  }

  /** @param {Game} game */
  show(game) {
    const { own, end, seating, names, moves, people } = game;
    this.element.hidden = Boolean(end) || own.length === 0;
    if (this.element.hidden) return;
    const { offer } = seating;
    const mayAsk = !offer && people.length > 1 && moves.some(({ seat }) => own.includes(seat));
    const buttons = [
      mayAsk ? createButton(texts.askTakeBack, () => this.change("take_back", {})) : null,
      createButton(texts.resign, () => this.ask(game)),
    ];
    fill(
      this.element,
      offer ? this.createOffer(offer, own, names) : null,
      html("div", { class: "buttons" }, this.asks ? this.createQuestion(game) : buttons),
    );
  }

  /**
   * @param {{seat: number, waits_for: number[]}} offer
   * @param {number[]} own
   * @param {string[]} names
   */
  createOffer({ seat, waits_for: waitsFor }, own, names) {
    const refuse = () => this.change("take_back", { refuse: true });
    const isAsked = waitsFor.some((other) => own.includes(other));
    const words = isAsked ? texts.wantsToTakeBack(names[seat]) : texts.waitsForConsent(waitsFor.map((other) => names[other]));
    return html(
      "div",
      { class: "card", role: "status" },
      html("p", {}, words),
      html(
        "div",
        { class: "buttons" },
        isAsked ? createButton(texts.agree, () => this.change("take_back", {}), "main") : null,
        isAsked || own.includes(seat) ? createButton(isAsked ? texts.refuse : texts.askNoMore, refuse) : null,
      ),
    );
  }

  /** @param {Game} game */
  ask(game) {
    this.asks = true;
    this.show(game);
    this.element.querySelector("button")?.focus();
  }

  /** @param {Game} game */
  createQuestion(game) {
    const back = () => {
      this.asks = false;
      this.show(game);
    };
    const { own, position, names } = game;
    const seat = own.includes(position.to_play) ? position.to_play : own[0];
    const resign = () => {
      this.asks = false;
      this.change("resign", { seat });
    };
    return [createButton(texts.sureToResign(names[seat]), resign), createButton(texts.playOn, back)];
  }
}
