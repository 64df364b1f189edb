// The screen of a recorded game: from a file or from a game played here, step by step, and reviewed.

import { gamePath } from "./addresses.js";
import { Refusal, get, getText, postText } from "./api.js";
import { Board, frameBoard } from "./board.js";
import { fill, html, isForeignKey } from "./dom.js";
import { LETTERS, SIGNS, createJudgement, labelPairs, tileOf } from "./judgement.js";
import { Opener } from "./opener.js";
import { createPanels, createTable } from "./panels.js";
import { ReviewReport, findMistakes, isSolo } from "./review_report.js";
import { describeEvents } from "./sentences.js";
import { createShare, embedData, pack, positionAddress, unpack } from "./share.js";
import { texts } from "./texts.js";

/** @import { Drawing, Ghost } from "./board.js" */
/** @import { GameEvent, Position, Review, SeatName, Steps } from "./api_types.js" */

const STEP_MS = 1200; // a step when the game plays by itself

/**
 * Show a recorded game. Its address is `#/replay/<game>/<decision>`: a game played here by its id, another one packed into
 * the address.
 * @param {HTMLElement} place
 * @param {string | undefined} key the id of a game played here, or a packed record behind "="
 * @param {string | undefined} what "review" to begin a review at once, or the decision to look at
 */
export async function openReplay(place, key, what) {
  const begin = what === "review";
  const opener = new Opener((line) => open(line));
  /** @type {Replay | null} */
  let shown = null;

  /**
   * Show a game. The browser keeps it with its review in the entry of its history, so that both survive a reload.
   * @param {string} line the record
   * @param {{seat_names?: SeatName[], people?: number[]}} about what is known besides the record
   * @param {Review | null} review
   * @param {string} address the key of the game; "" to pack the record
   */
  async function open(line, about = {}, review = null, address = "") {
    const steps = await postText("/api/steps", line);
    const { seat_names: named, people = steps.people } = about;
    show(line, { ...steps, people, names: named?.map(texts.seatName) ?? steps.names }, address || `=${await pack(line)}`);
    history.replaceState({ line, about, review }, "");
    if (review) shown?.setReview(review);
    else if (begin) shown?.report.startReview();
  }

  /**
   * @param {string | null} line null for a game in progress
   * @param {Steps} steps
   * @param {string} address
   */
  function show(line, steps, address) {
    if (!place.isConnected) return;
    shown?.leave();
    shown = new Replay(line, steps, address, opener.element);
    fill(place, shown.element);
    if (/^[0-9]+$/.test(what ?? "") && address === key) shown.go(Number(what));
  }

  const onKey = (/** @type {KeyboardEvent} */ event) => shown?.onKey(event);
  document.addEventListener("keydown", onKey);
  document.title = texts.reviewTitle;
  if (history.state?.line) {
    await open(history.state.line, history.state.about ?? {}, history.state.review, key);
  } else if (key?.startsWith("=")) {
    const line = await unpack(key.slice(1)).catch(() => null);
    if (line === null) throw new Refusal(400, texts.badAddress);
    await open(line, {}, null, key);
  } else if (key) {
    /** @type {Steps & {seat_names: SeatName[]}} */
    const steps = await get(gamePath(key, "/steps"));
    if (!steps.over) show(null, steps, key);
    else {
      const { seat_names, people } = steps;
      await open((await getText(gamePath(key, "/record"))).trim(), { seat_names, people }, null, key);
    }
  } else {
    fill(place, html("div", { class: "alone" }, opener.element));
  }
  return () => {
    document.removeEventListener("keydown", onKey);
    shown?.leave();
  };
}

class Replay {
  /**
   * @param {string | null} line the record; null for a game in progress
   * @param {Steps} game
   * @param {string} address the key of the game
   * @param {HTMLElement} opener opens another game
   */
  constructor(line, game, address, opener) {
    this.line = line;
    this.address = address;
    this.game = game;
    this.at = 0; // the number of the decision that is looked at, from 1; 0 is the deal
    this.after = false; // whether the position after a reviewed decision is shown
    /** @type {number | null} */
    this.chosen = null; // an alternative that is looked at
    /** @type {Review | null} */
    this.review = null;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    this.board = new Board(game.rules, { label: texts.recordBoard });
    this.told = describeEvents(game.rules, game.names, this.board.grid, game.events);
    this.status = html("p", { class: "status", role: "status" });
    this.slider = html("input", {
      type: "range",
      min: 0,
      max: this.last,
      value: 0,
      "aria-label": texts.step,
      oninput: (event) => this.go(Number(event.target.value)),
    });
    this.auto = html("button", { type: "button", onclick: () => this.toggleAuto() }, texts.play);
    this.judged = html("div", { class: "judged" });
    this.side = html("div", { class: "panels" });
    this.report = new ReviewReport(line, game, {
      describe: (index) => this.describeDecision(index),
      go: (at) => this.go(at),
      goToMistake: () => this.goToMistake(),
      onReview: (review) => this.setReview(review),
    });
    this.moves = html("ol", { class: "moves" });
    this.element = this.createElement(opener);
    this.listMoves();
    this.show();
  }

  /** The number of decisions. */
  get last() {
    return this.game.frames.length - 1;
  }

  /** @param {HTMLElement} opener */
  createElement(opener) {
    const { start, back, next, end } = texts.steps;
    /** @type {(words: string[], to: () => number) => HTMLElement} */
    const button = ([words, key], to) =>
      html("button", { type: "button", title: key, onclick: () => this.go(to()) }, words);
    const steps = html(
      "div",
      { class: "buttons steps" },
      button(start, () => 0),
      button(back, () => this.back),
      this.auto,
      button(next, () => this.at + 1),
      button(end, () => this.last),
    );
    const share = createShare({
      line: this.line,
      step: () => this.at,
      text: () => this.frame.text,
      link: async () => `${location.origin}/#/replay/${this.address}/${this.at}`,
      embed: () => embedData(this.game, this.told),
    });
    const log = html("details", { class: "card log", open: true }, html("summary", {}, texts.decisionList), this.moves);
    const table = createTable(this.game.rules, {
      title: this.game.names.join(", "),
      status: this.status,
      board: frameBoard(this.board),
      controls: [steps, this.slider, this.judged],
      beside: [this.side, this.report.element, log, share, opener],
    });
    table.classList.add("replay");
    return table;
  }

  // Steps

  /** The position that is shown. */
  get frame() {
    return this.game.frames[this.isBefore ? this.at - 1 : this.at];
  }

  /** Where a step back leads. */
  get back() {
    return this.after ? this.at : this.at - 1;
  }

  /**
   * Look at a decision. A reviewed one is shown with the position in which it was made; behind the last one comes the
   * last position.
   * @param {number} to
   */
  go(to) {
    this.at = Math.max(0, Math.min(this.last, to));
    this.after = to > this.last;
    this.chosen = null;
    this.show();
    if (this.decision) this.judged.scrollIntoView({ block: "nearest" }); // in a low window it scrolls with the lists
  }

  toggleAuto() {
    if (this.timer !== undefined) {
      this.stop();
      return;
    }
    if (this.at === this.last) this.go(0);
    this.auto.textContent = texts.pause;
    this.timer = setInterval(() => {
      this.go(this.at + 1);
      if (this.at === this.last) this.stop();
    }, STEP_MS);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.auto.textContent = texts.play;
  }

  leave() {
    this.stop();
    this.report.leave();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (isForeignKey(event)) return;
    /** @type {Record<string, number>} */
    const targets = { ArrowLeft: this.back, ArrowRight: this.at + 1, Home: 0, End: this.last };
    if (event.key === "n" && this.review) this.goToMistake();
    if (!(event.key in targets)) return;
    event.preventDefault();
    this.go(targets[event.key]);
  }

  // What is shown

  /**
   * Return a decision and the draws that followed it.
   * @param {number} at its number, from 1
   */
  eventsAt(at) {
    if (at === 0) return [];
    return this.game.events.slice(this.game.frames[at - 1].event, this.game.frames[at].event);
  }

  /** Whether the position is that in which the decision was made, not the one that it led to. */
  get isBefore() {
    return this.decision !== null && !this.after;
  }

  show() {
    const { rules, names, end } = this.game;
    const { position, text } = this.frame;
    const events = this.eventsAt(this.at);
    this.board.show(position.board);
    this.board.draw(this.findDrawing(position, events));
    const sentences = events.map((event) => this.told[event.event].words);
    this.status.textContent =
      this.at === 0 ? texts.deal(names, texts.rules(rules.named)) : texts.stepWords(this.at, this.last, sentences);
    this.slider.value = String(this.at);
    const over = this.at === this.last && !this.isBefore && end !== "unfinished";
    const analyse = text ? html("a", { class: "button", href: positionAddress(text) }, texts.analyse) : null;
    fill(this.side, createPanels(rules, names, position, { over }), html("div", { class: "buttons" }, analyse));
    history.replaceState(history.state, "", `#/replay/${this.address}/${this.at}`);
    this.showJudgement();
    this.report.chart?.mark(this.at - 1);
    [...this.moves.children].forEach((item, index) =>
      item.children[0].toggleAttribute("data-now", index === this.at - 1),
    );
  }

  /**
   * @param {Position} position
   * @param {GameEvent[]} events
   * @returns {Drawing}
   */
  findDrawing(position, events) {
    const { grid } = this.board;
    const placed = events.find((event) => event.kind === "place");
    const { cells = [], tile = "" } = placed ?? {};
    const lines = placed ? grid.scoringLines(position, cells, tile) : [];
    if (this.decision === null || this.after) return { marks: cells, lines };
    const { alternatives, verdict } = this.decision;
    /** @type {Ghost[]} */
    const ghosts = placed ? [{ cells, tile, look: "played" }] : [];
    const pills = placed ? [{ cells, words: SIGNS[verdict], square: true }] : [];
    const chosen = this.chosen === null ? undefined : alternatives[this.chosen];
    if (this.chosen !== null && chosen?.cells.length) {
      const other = tileOf(chosen, position);
      const better = { cells: chosen.cells, words: LETTERS[this.chosen], square: false };
      return {
        ghosts: [...ghosts, { cells: chosen.cells, tile: other, look: "better" }],
        lines: grid.scoringLines(position, chosen.cells, other),
        pills: [...pills, better],
      };
    }
    return { ghosts, lines, pills: [...labelPairs(alternatives), ...pills] };
  }

  listMoves() {
    const items = this.game.frames.slice(1).map((_, index) => {
      const words = this.describeDecision(index);
      const verdict = this.review?.decisions[index].verdict;
      const title = verdict && texts.verdicts[verdict];
      const button = html(
        "button",
        { type: "button", class: verdict ? `move ${verdict}` : "move", onclick: () => this.go(index + 1) },
        verdict ? html("span", { class: "sign", title }, SIGNS[verdict]) : null,
        verdict && verdict !== "best" ? `${words} (${title})` : words,
      );
      return html("li", {}, button);
    });
    fill(this.moves, items);
  }

  /**
   * Say what was decided.
   * @param {number} index of the decision, from 0
   */
  describeDecision(index) {
    return this.told[this.eventsAt(index + 1)[0].event].words;
  }

  // The review

  /** Whether decisions are valued by the lowest marker. */
  get solo() {
    return isSolo(this.review);
  }

  /** The judgement of the decision that led here. */
  get decision() {
    return this.at > 0 ? (this.review?.decisions[this.at - 1] ?? null) : null;
  }

  /** @param {Review} review */
  setReview(review) {
    this.review = review;
    history.replaceState({ ...history.state, review }, "");
    this.report.show(review);
    this.listMoves();
    this.show();
  }

  /** Look at the next mistake or blunder; behind the last one at the first. */
  goToMistake() {
    const bad = findMistakes(this.review);
    if (bad.length) this.go((bad.find((index) => index + 1 > this.at) ?? bad[0]) + 1);
  }

  /**
   * Look at an alternative, or no longer.
   * @param {number} index
   */
  choose(index) {
    this.chosen = this.chosen === index ? null : index;
    this.after = false;
    this.show();
    this.focusInside(`.alternative:nth-child(${index + 1})`);
  }

  /** Show the position after the decision, or the decision again. */
  toggleAfter() {
    this.after = !this.after;
    this.chosen = null;
    this.show();
    this.focusInside(".turn-over");
  }

  /** @param {string} selector of a button of the judgement, which was drawn anew */
  focusInside(selector) {
    const found = this.judged.querySelector(selector);
    if (found instanceof HTMLElement) found.focus({ preventScroll: true });
  }

  /** Show what the judge says of the decision that is looked at. */
  showJudgement() {
    const { decision } = this;
    if (decision === null) {
      fill(this.judged);
      return;
    }
    const { position, seen } = this.game.frames[this.at - 1];
    const { grid } = this.board;
    const { tile } = this.eventsAt(this.at)[0];
    const name = this.game.names[position.to_play];
    const { solo, chosen, after } = this;
    fill(
      this.judged,
      createJudgement(
        { decision, position, seen, tile, name, grid, solo, chosen, after },
        { onChoose: (index) => this.choose(index), onToggle: () => this.toggleAfter() },
      ),
    );
  }
}
