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

/** Take back, resign, and invite spectators: buttons beside the board, questions and answers below it. */
export class TableActions {
  /** @param {Change} change */
  constructor(change) {
    this.change = change;
    this.element = html("div", { class: "table-actions", hidden: true });
    this.question = html("div", { class: "question", hidden: true });
    this.asks = false; // whether it is asked if the person really resigns
  }

  /** @param {Game} game */
  show(game) {
    const { own, end, role, seating, moves, people } = game;
    const { offer, links } = seating;
    const plays = own.length > 0;
    this.element.hidden = Boolean(end) || (!plays && role !== "host");
    this.question.hidden = Boolean(end) || !(offer || (this.asks && plays));
    const mayAsk = plays && !offer && people.length > 1 && moves.some(({ seat }) => own.includes(seat));
    fill(
      this.element,
      html(
        "div",
        { class: "buttons" },
        mayAsk ? createButton(texts.askTakeBack, () => this.change("take_back", {})) : null,
        plays ? createButton(texts.resign, () => this.ask(game)) : null,
        links && !links.spectators ? createButton(texts.inviteSpectators, () => this.change("link", { link_of: null })) : null,
      ),
    );
    if (this.question.hidden) return;
    fill(this.question, offer ? this.createOffer(offer, game) : null, this.asks && plays ? this.createQuestion(game) : null);
  }

  /**
   * @param {{seat: number, waits_for: number[]}} offer
   * @param {Game} game
   */
  createOffer({ seat, waits_for: waitsFor }, { own, names }) {
    const refuse = () => this.change("take_back", { refuse: true });
    const isAsked = waitsFor.some((other) => own.includes(other));
    const isOwn = own.includes(seat);
    const waiting = texts.waitsForConsent(waitsFor.map((other) => names[other]));
    return html(
      "div",
      { class: "card", role: "status" },
      html("p", {}, isOwn ? waiting : texts.wantsToTakeBack(names[seat])),
      isAsked || isOwn
        ? html(
            "div",
            { class: "buttons" },
            isAsked ? createButton(texts.agree, () => this.change("take_back", {}), "main") : null,
            createButton(isAsked ? texts.refuse : texts.askNoMore, refuse),
          )
        : null,
    );
  }

  /** @param {Game} game */
  ask(game) {
    this.asks = true;
    this.show(game);
    this.question.querySelector("button")?.focus();
  }

  /** @param {Game} game */
  createQuestion(game) {
    const back = () => {
      this.asks = false;
      this.show(game);
      this.element.querySelector("button")?.focus();
    };
    const { own, position, names } = game;
    const seat = own.includes(position.to_play) ? position.to_play : own[0];
    const resign = () => {
      this.asks = false;
      this.change("resign", { seat });
    };
    return html(
      "div",
      { class: "card buttons" },
      createButton(texts.sureToResign(names[seat]), resign),
      createButton(texts.playOn, back),
    );
  }
}
