// The report of a review beside a recorded game: what starts it, how far it is, and what it found.

import { Refusal, describeRefusal, isAbort, postForLines } from "./api.js";
import { createChart } from "./chart.js";
import { announce, fill, html } from "./dom.js";
import { SIGNS } from "./judgement.js";
import { keepMistakes } from "./lessons.js";
import { nameTrack } from "./sentences.js";
import { nameTile } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { Decision, Luck, Review, ReviewLine, Steps } from "./api_types.js" */

const SHOWN_DRAWS = 5; // the draws with the most luck, good or bad

/**
 * Create a select element.
 * @param {Record<string, string>} options label by value
 * @param {string} chosen
 */
function createSelect(options, chosen) {
  const select = html("select", {}, Object.entries(options).map(([value, words]) => html("option", { value }, words)));
  select.value = chosen;
  return select;
}

/** @param {() => void} go */
const createNextMistake = (go) =>
  html("button", { type: "button", title: texts.nextMistakeKey, onclick: go }, texts.nextMistake, html("kbd", { "aria-hidden": true }, "N"));

/**
 * Create the button that keeps the mistakes as puzzles: those of people, or of everybody if there are no people.
 * @param {Steps} game
 * @param {Decision[]} decisions
 */
function createKeep(game, decisions) {
  const people = game.people ?? [];
  const isOwn = (/** @type {number} */ seat) => people.length === 0 || people.includes(seat);
  const keep = () => {
    const words = texts.mistakesKept(keepMistakes(game, decisions, isOwn));
    status.textContent = words;
    status.hidden = false;
    announce(words);
  };
  const status = html("a", { href: "#/lessons/own", hidden: true });
  return [html("button", { type: "button", onclick: keep }, texts.keepMistakes), status];
}

/** Return whether the decisions of a review are valued by the lowest marker. @param {Review | null} review */
export const isSolo = (review) => review?.unit === "lowest marker";

/** Return the numbers of the decisions that were mistakes or blunders, from 0. @param {Review | null} review */
export const findMistakes = (review) =>
  (review?.decisions ?? []).flatMap(({ verdict }, index) => (["blunder", "mistake"].includes(verdict) ? [index] : []));

/**
 * What the report needs of the screen.
 * @typedef {object} Screen
 * @property {(index: number) => string} describe says what was decided; decisions are counted from 0
 * @property {(at: number) => unknown} go looks at a decision, counted from 1
 * @property {() => unknown} goToMistake looks at the next mistake
 * @property {(review: Review) => unknown} onReview is called when a review is there
 */

export class ReviewReport {
  /**
   * @param {string | null} line the record; null for a game in progress
   * @param {Steps} game
   * @param {Screen} screen
   */
  constructor(line, game, screen) {
    this.line = line;
    this.game = game;
    this.screen = screen;
    this.leaving = new AbortController();
    /** @type {ReturnType<typeof createChart> | null} */
    this.chart = null;
    this.level = createSelect(texts.levels, "normal");
    this.racks = createSelect(texts.rackModes, "hidden");
    this.bad = createNextMistake(() => screen.goToMistake());
    this.element = html("section", { class: "card report", "aria-label": texts.review }, this.createStart());
  }

  leave() {
    this.leaving.abort();
  }

  /** Whether racks were hidden, and no longer need to be. */
  get mayOpenRacks() {
    return this.game.end !== "unfinished" && this.game.rules.players > 1;
  }

  /** What starts a review. */
  createStart() {
    if (this.line === null) return html("p", { class: "hint" }, texts.reviewAtEnd);
    return html(
      "div",
      { class: "buttons" },
      html("label", {}, `${texts.level} `, this.level),
      this.mayOpenRacks ? html("label", {}, `${texts.racks} `, this.racks) : null,
      html("button", { type: "button", class: "main", onclick: () => this.startReview() }, texts.reviewGame),
    );
  }

  async startReview() {
    const before = [...this.element.childNodes];
    const bar = html("progress", { max: 1, value: 0, "aria-label": texts.review });
    const words = html("p", { role: "status" }, texts.reviewing);
    const cancelling = new AbortController();
    this.leaving.signal.addEventListener("abort", () => cancelling.abort());
    const cancel = html("button", { type: "button", onclick: () => cancelling.abort() }, texts.cancel);
    fill(this.element, words, bar, html("div", { class: "buttons" }, cancel));
    /** @param {ReviewLine} line */
    const onLine = ({ done, of, review, error, code = "", values = {} }) => {
      if (error) throw new Refusal(422, describeRefusal({ error, code, values }));
      if (review) this.screen.onReview(review);
      if (done === undefined || of === undefined) return;
      bar.max = of;
      bar.value = done;
      words.textContent = texts.reviewProgress(done, of);
    };
    try {
      const address = `/api/review?level=${this.level.value}&racks=${this.racks.value}`;
      await postForLines(address, this.line ?? "", cancelling.signal, onLine);
    } catch (error) {
      if (this.leaving.signal.aborted) return;
      if (isAbort(error)) {
        fill(this.element, before);
        [...this.element.querySelectorAll("button")].at(-1)?.focus(); // the one that starts a review
        announce(texts.cancelled);
        return;
      }
      if (!(error instanceof Refusal)) throw error;
      fill(this.element, html("p", { class: "problem", role: "alert" }, error.message), this.createStart());
    }
  }

  /** @param {Review} review */
  show(review) {
    const { rules, names } = this.game;
    const { judge, racks } = review;
    this.element.classList.add("done");
    this.chart = createChart(rules, names, review, (index) => this.screen.go(index + 1));
    const worst = findMistakes(review).map((index) => this.createBlunder(review.decisions[index], index));
    const losses = names.map((name, seat) =>
      html("li", {}, texts.accuracy(name, review.accuracy[seat], review.mean_loss[seat])),
    );
    fill(
      this.element,
      html("h2", {}, texts.review),
      html("p", { class: "hint" }, texts.reviewHelp(texts.levelNames[judge] ?? judge, isSolo(review), racks === "open")),
      html("ul", { class: "losses" }, losses),
      this.chart.element,
      ...(review.luck ? this.describeLuck(review.luck) : []),
      html("h3", {}, texts.worstTitle),
      worst.length ? html("ul", { class: "blunders" }, worst) : html("p", {}, texts.none),
      worst.length ? html("div", { class: "buttons" }, this.bad, createKeep(this.game, review.decisions)) : null,
      this.createStart(),
    );
    announce(texts.reviewDone);
  }

  /**
   * Say what luck each track had, and which draws were the luckiest and the unluckiest.
   * @param {Luck} luck
   */
  describeLuck(luck) {
    const { rules, names } = this.game;
    const tracks = luck.result.map((result, track) =>
      texts.luckOfTrack(nameTrack(rules, names, track), result, luck.luck[track], luck.adjusted[track]),
    );
    const own = luck.draws.map(({ seat, tiles, luck: of }) => ({ seat, tiles, luck: of[seat % of.length] }));
    const most = [...own].sort((a, b) => Math.abs(b.luck) - Math.abs(a.luck)).slice(0, SHOWN_DRAWS);
    const draws = most.map(({ seat, tiles, luck: of }) => texts.luckOfDraw(names[seat], tiles.map(nameTile), of));
    return [
      html("h3", {}, texts.luckTitle),
      html("p", { class: "hint" }, texts.luckHelp),
      html("ul", { class: "luck" }, [...tracks, ...draws].map((words) => html("li", {}, words))),
    ];
  }

  /**
   * @param {Decision} decision
   * @param {number} index
   */
  createBlunder({ verdict, loss }, index) {
    const button = html(
      "button",
      { type: "button", class: `move ${verdict}`, onclick: () => this.screen.go(index + 1) },
      html("span", { class: "sign" }, SIGNS[verdict]),
      texts.badDecision(index + 1, this.screen.describe(index), texts.verdicts[verdict], loss),
    );
    return html("li", {}, button);
  }
}
