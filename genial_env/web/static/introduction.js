// The introduction: a few positions in which the reader tries what the rules say. The server plays in them.

import { Refusal, post } from "./api.js";
import { Board, frameBoard } from "./board.js";
import { createRack } from "./controls.js";
import { announce, fill, html, isForeignKey, isInside } from "./dom.js";
import { Hand } from "./hand.js";
import { createPanels, createTable } from "./panels.js";
import { describePlacement, findPlacement } from "./placement.js";
import { nameColor, nameTile } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { Game, GameEvent, Letter } from "./api_types.js" */
/** @import { Child } from "./dom.js" */

/** @typedef {"score" | "bonus" | "lowest" | "swap"} Name of a lesson of `genial_env/web/_introduction.py` */
/** @typedef {{word: "swap" | "decline"} | {slot: number, cells: number[]}} Try */

/** @type {Name[]} */
const LESSONS = ["score", "bonus", "lowest", "swap"];
const ENOUGH_POINTS = 3; // that are asked for in the first lesson

/** @param {HTMLElement} place */
export async function openIntroduction(place) {
  document.title = `${texts.introduction} · ${texts.title}`;
  const screen = new Introduction(place);
  const onKey = (/** @type {KeyboardEvent} */ event) => screen.onKey(event);
  document.addEventListener("keydown", onKey);
  await screen.begin(0);
  return () => document.removeEventListener("keydown", onKey);
}

class Introduction {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.at = 0;
    this.hand = new Hand();
    /** @type {Try[]} */
    this.tries = [];
    /** @type {Game | null} */
    this.game = null;
    /** @type {Board | null} */
    this.board = null;
    /** @type {"task" | "more" | "again" | "done"} */
    this.state = "task";
    this.words = html("div", { class: "lesson" });
    this.preview = html("p", { class: "preview" });
    this.controls = html("div", { class: "controls" });
    this.side = html("div", { class: "panels" });
  }

  /** The name of the lesson. */
  get name() {
    return LESSONS[this.at];
  }

  /** The tiles of the rack, by slot. */
  get tiles() {
    const rack = this.game?.position.racks[0];
    return Array.isArray(rack) ? rack : [];
  }

  /** Whether a tile may be laid. */
  get placing() {
    return ["task", "more"].includes(this.state) && Boolean(this.game?.choice?.pairs.length);
  }

  /**
   * Begin a lesson.
   * @param {number} at
   */
  async begin(at) {
    this.at = at;
    this.tries = [];
    this.state = "task";
    await this.play();
    this.createScreen();
    this.show();
    announce(this.words.textContent ?? "");
  }

  createScreen() {
    if (this.game === null) return;
    this.board = new Board(this.game.rules, {
      label: texts.boardHelp,
      onCellClick: (cell) => this.onCellClick(cell),
      onCellHover: (cell) => this.onCellHover(cell),
    });
    const table = createTable(this.game.rules, {
      status: html("div", { class: "status" }, this.words),
      board: frameBoard(this.board),
      controls: [this.preview, this.controls],
      beside: this.side,
    });
    table.classList.add("introduction");
    fill(this.place, table);
  }

  /** Have the server play what was tried, and take the position. */
  async play() {
    /** @type {Game} */
    const game = await post("/api/introduction", { lesson: this.name, decisions: this.tries });
    this.game = game;
    this.hand.reset(game.choice?.pairs ?? []);
  }

  /** @param {Try} decision */
  async attempt(decision) {
    this.tries.push(decision);
    try {
      await this.play();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.tries.pop();
      this.preview.textContent = error.message;
      return;
    }
    this.state = this.judge();
    this.show();
    announce(this.words.textContent ?? "");
    this.controls.querySelector("button")?.focus({ preventScroll: true });
  }

  /** What comes after a decision. */
  judge() {
    const { moves, position } = /** @type {Game} */ (this.game);
    const points = Object.values(moves[moves.length - 1].points ?? {}).reduce((sum, each) => sum + each, 0);
    if (this.name === "score") return points >= ENOUGH_POINTS ? "done" : "again";
    if (this.name === "bonus" && moves.length === 1) return position.phase === "bonus" ? "more" : "again";
    return "done";
  }

  // Showing

  show() {
    const { board, game } = this;
    if (game === null || board === null) return;
    const lesson = texts.lessons[this.name](this.facts);
    const isLast = this.at === LESSONS.length - 1;
    fill(
      this.words,
      html("h1", {}, texts.lessonTitle(this.at + 1, LESSONS.length, lesson.title)),
      html("p", {}, lesson[this.state] ?? lesson.task),
      isLast && this.state === "done" ? html("p", {}, texts.lessonsEnd) : null,
    );
    board.show(game.position.board);
    this.showHand();
    this.showControls();
  }

  /** What the words of a lesson are about. */
  get facts() {
    const { position, rules } = /** @type {Game} */ (this.game);
    const lowest = position.scores.map((markers) => Math.min(...markers));
    const own = position.scores[0];
    /** @type {Letter} */
    const lowestColor = rules.colors[own.indexOf(lowest[0])];
    return { enough: ENOUGH_POINTS, stop: rules.stops[0], lowest, lowestColor: nameColor(lowestColor), red: nameColor("R") };
  }

  /** @returns {GameEvent[]} the tiles that were laid */
  get laid() {
    return (this.game?.moves ?? []).filter((event) => event.kind === "place");
  }

  showHand() {
    const { board, game } = this;
    if (game === null || board === null) return;
    const placement = this.placing ? findPlacement(game, this.hand, board.grid) : null;
    const last = this.laid[this.laid.length - 1];
    const lines = last?.cells && last.tile ? board.grid.scoringLines(game.position, last.cells, last.tile) : [];
    const look = this.hand.fixed ? "fixed" : "over";
    board.draw({
      marks: last?.cells ?? [],
      lines: placement ? placement.lines : lines,
      ghosts: placement ? [{ ...placement, look: placement.fits ? look : "wrong" }] : [],
    });
    board.showCursor(document.activeElement === board.element ? this.hand.anchor : null);
    this.preview.textContent = placement ? describePlacement(game, board.grid, placement) : "";
    const preview = placement?.fits ? placement.points : null;
    fill(this.side, createPanels(game.rules, game.names, game.position, { over: this.name === "lowest", preview }));
  }

  showControls() {
    const { activeElement } = document;
    const action = activeElement instanceof HTMLElement ? activeElement.dataset.act : undefined;
    fill(this.controls, this.createControls());
    const again = action && this.controls.querySelector(`[data-act="${action}"]:not(:disabled)`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  }

  /** @returns {Child[]} */
  createControls() {
    const { hand, placing } = this;
    /** @type {(words: string, onclick: () => unknown, main?: boolean, enabled?: boolean) => HTMLElement} */
    const button = (words, onclick, main = false, enabled = true) =>
      html("button", { type: "button", class: main ? "main" : null, "data-act": words, disabled: !enabled, onclick }, words);
    const begin = (/** @type {number} */ at) => () => this.begin(at);
    const isLast = this.at === LESSONS.length - 1;
    /** @type {HTMLElement[]} */
    const buttons = [];
    if (this.state === "done" && !isLast) buttons.push(button(texts.steps.next[0], begin(this.at + 1), true));
    if (this.state === "done" && isLast) buttons.push(html("a", { class: "button main", href: "#/" }, texts.newGame));
    if (this.state === "done" && isLast) buttons.push(html("a", { class: "button", href: "#/rules" }, texts.rulesPage));
    if (this.state === "again") buttons.push(button(texts.tryAgain, begin(this.at), true));
    if (placing) buttons.push(button(texts.lay, () => this.lay(), true, hand.fixed));
    if (placing) buttons.push(button(texts.rotate, () => this.rotate(1), false, hand.slot !== null));
    if (this.state === "task" && this.name === "lowest") buttons.push(...this.createAnswers());
    if (this.state === "task" && this.name === "swap") {
      buttons.push(button(texts.swapAll, () => this.attempt({ word: "swap" }), true));
      buttons.push(button(texts.keep, () => this.attempt({ word: "decline" })));
    }
    if (this.at > 0) buttons.push(button(texts.steps.back[0], begin(this.at - 1)));
    const rack = createRack(this.tiles, { chosen: hand.slot, disabled: !placing, onPick: (slot) => this.pick(slot) });
    const isRackOf = this.tiles.some(Boolean) && (placing || this.name === "swap");
    return [isRackOf ? rack : null, html("div", { class: "buttons" }, buttons)];
  }

  /** The players, of whom one has won. */
  createAnswers() {
    const { lowest } = this.facts;
    return this.names.map((name, seat) => {
      const answer = () => {
        this.state = lowest[seat] === Math.max(...lowest) ? "done" : "again";
        this.show();
        announce(this.words.textContent ?? "");
        this.controls.querySelector("button")?.focus({ preventScroll: true });
      };
      return html("button", { type: "button", "data-act": name, onclick: answer }, name);
    });
  }

  get names() {
    return this.game?.names ?? [];
  }

  // The tile in hand

  /** @param {number} slot */
  pick(slot) {
    if (!this.placing || !this.tiles[slot]) return;
    this.hand.slot = slot;
    this.refresh();
    announce(texts.inHand(nameTile(this.tiles[slot])));
    this.board?.element.focus({ preventScroll: true });
  }

  /** @param {number | null} cell */
  onCellHover(cell) {
    if (this.hand.fixed || !this.placing) return;
    this.hand.anchor = cell;
    this.showHand();
  }

  /** @param {number} cell */
  onCellClick(cell) {
    const { hand, board } = this;
    if (!this.placing || board === null) return;
    if (hand.slot === null) {
      this.preview.textContent = texts.chooseTile;
      return;
    }
    if (hand.fixed && hand.anchor !== null && hand.cover(board.grid, hand.anchor).cells.includes(cell)) {
      this.rotate(1);
      return;
    }
    hand.anchor = cell;
    hand.fixed = hand.cover(board.grid, cell).fits;
    this.refresh();
    announce(this.preview.textContent ?? "");
  }

  /** @param {1 | -1} by */
  rotate(by) {
    if (this.board === null || !this.placing || this.hand.slot === null) return;
    this.hand.rotate(by, this.board.grid);
    this.refresh();
  }

  lay() {
    const { board, game, hand } = this;
    const placement = game && board && findPlacement(game, hand, board.grid);
    if (hand.fixed && hand.slot !== null && placement?.fits) this.attempt({ slot: hand.slot, cells: placement.cells });
  }

  refresh() {
    this.showHand();
    this.showControls();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const { board, hand } = this;
    if (board === null || !this.placing || isForeignKey(event)) return;
    const { key } = event;
    const isOnBoard = event.target === board.element;
    const middle = (board.groups.length - 1) / 2;
    if (key.startsWith("Arrow") && isOnBoard) {
      hand.anchor = hand.anchor === null ? middle : board.grid.follow(hand.anchor, key);
      hand.fixed = false;
      this.refresh();
      announce(`${board.grid.name(hand.anchor)}, ${board.describe(hand.anchor)}. ${this.preview.textContent}`);
    } else if (/^[1-9]$/.test(key)) this.pick(Number(key) - 1);
    else if (key === "r" || key === "R") this.rotate(key === "r" ? 1 : -1);
    else if (key === "Escape") this.takeBack();
    else if (key === "Enter" && !isInside(event, "button, a, summary")) {
      if (hand.fixed) this.lay();
      else this.onCellClick(hand.anchor ?? middle);
    } else return;
    event.preventDefault();
  }

  takeBack() {
    if (this.hand.fixed) this.hand.fixed = false;
    else this.hand.slot = null;
    this.refresh();
  }
}
