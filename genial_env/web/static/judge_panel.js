// The judge's best moves of the position that is looked at. A request is broken off when the position changes.

import { Refusal, isAbort, post } from "./api.js";
import { fill, html } from "./dom.js";
import { describePoints } from "./sentences.js";
import { drawTile, nameColor, nameTile } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { Grid } from "./board.js" */
/** @import { Judged, JudgedMove, Shown } from "./api_types.js" */

const LETTERS = "ABCDEFGH";

export class JudgePanel {
  /** @param {{onPick: (move: JudgedMove | null) => void, onPlay: (move: JudgedMove) => void}} options */
  constructor({ onPick, onPlay }) {
    this.onPick = onPick;
    this.onPlay = onPlay;
    this.asking = new AbortController();
    /** @type {JudgedMove | null} */
    this.chosen = null;
    const levels = ["none", ...Object.keys(texts.levels)];
    const options = levels.map((value) => html("option", { value }, texts.levels[value] ?? texts.noJudging));
    this.level = html("select", { onchange: () => this.shown && this.grid && this.judge(this.shown, this.grid) }, options);
    this.level.value = "normal";
    this.list = html("ol", { class: "judged-moves" });
    this.note = html("p", { class: "hint", role: "status" });
    this.element = html(
      "section",
      { class: "card", "aria-label": texts.bestMoves },
      html("label", { class: "across" }, html("strong", {}, texts.bestMoves), this.level),
      this.list,
      this.note,
    );
    /** @type {Shown | null} */
    this.shown = null;
    /** @type {Grid | null} */
    this.grid = null;
  }

  /** Ask no more. */
  stop() {
    this.asking.abort();
  }

  /**
   * Judge a position: predictions at once, then the chosen level.
   * @param {Shown} shown
   * @param {Grid} grid
   */
  async judge(shown, grid) {
    this.stop();
    this.asking = new AbortController();
    const { signal } = this.asking;
    this.shown = shown;
    this.grid = grid;
    this.chosen = null;
    fill(this.list);
    this.note.textContent = shown.judge ? "" : texts.noJudge;
    const level = this.level.value;
    if (!shown.judge || !shown.choice || level === "none") return;
    try {
      for (const each of level === "fast" ? ["fast"] : ["fast", level]) {
        this.note.textContent = texts.judging(texts.levelNames[each]);
        /** @type {Judged} */
        const found = await post("/api/analysis/judge", { position: shown.text, level: each }, signal);
        if (signal.aborted) return;
        this.showMoves(found, shown, grid);
      }
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Refusal)) throw error;
      this.note.textContent = error.message;
    }
  }

  /**
   * @param {Judged} found
   * @param {Shown} shown
   * @param {Grid} grid
   */
  showMoves({ level, judged, unit, moves }, shown, grid) {
    const exact = moves.every(({ error }) => error === 0);
    this.note.textContent = texts.judgedMoves(judged, texts.levelNames[level], exact);
    fill(this.list, moves.map((move, index) => html("li", {}, this.createMove(move, index, unit, shown, grid))));
  }

  /**
   * @param {JudgedMove} move
   * @param {number} index
   * @param {string} unit
   * @param {Shown} shown
   * @param {Grid} grid
   */
  createMove(move, index, unit, shown, grid) {
    const worth = texts.judgedWorth(move.utility, move.win, index > 0 ? move.error : 0, unit === "lowest marker");
    const tile = tileOf(shown, move);
    const words = describeMove(shown, grid, move);
    /** @type {HTMLElement} */
    const pick = html(
      "button",
      {
        type: "button",
        class: "alternative",
        "aria-pressed": "false",
        onclick: () => this.pick(move, pick),
        ondblclick: () => this.onPlay(move),
      },
      html("strong", {}, `${LETTERS[index]} `),
      tile ? drawTile(tile, 10) : null,
      tile ? html("span", { class: "unseen" }, `${nameTile(tile)} `) : null,
      html("span", {}, texts.labelled(tile ? (move.cells ?? []).map((cell) => grid.name(cell)).join(" ") : words, worth)),
    );
    return pick;
  }

  /**
   * @param {JudgedMove} move
   * @param {HTMLElement} button
   */
  pick(move, button) {
    this.chosen = this.chosen === move ? null : move;
    this.list.querySelectorAll("button").forEach((each) => {
      each.setAttribute("aria-pressed", String(each === button && this.chosen !== null));
    });
    this.onPick(this.chosen);
  }
}

/**
 * Return the tile of a move; "" for a move that is no placement.
 * @param {Shown} shown
 * @param {JudgedMove} move
 */
export function tileOf({ position }, { slot }) {
  const rack = position.racks[position.to_play];
  return slot === undefined || typeof rack === "number" ? "" : rack[slot];
}

/**
 * Say what a move does.
 * @param {Shown} shown
 * @param {Grid} grid
 * @param {JudgedMove} move
 */
export function describeMove(shown, grid, move) {
  const tile = tileOf(shown, move);
  const { hintActions } = texts;
  if (!tile) {
    if (move.word === "swap") return hintActions.swap;
    return shown.position.phase === "swap" ? hintActions.keep : hintActions.decline;
  }
  const cells = (move.cells ?? []).map((cell) => grid.name(cell));
  return texts.labelled(texts.tileAt([...tile].map(nameColor), cells), describePoints(move.points));
}
