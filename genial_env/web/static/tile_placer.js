// Laying a tile by clicks, keys and the wheel: what all boards have in common on which a person lays tiles.

import { Board } from "./board.js";
import { announce, html, isInside } from "./dom.js";
import { Hand } from "./hand.js";
import { describeMisfit, describePlacement, findPlacement } from "./placement.js";
import { nameTile } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { Rules } from "./api_types.js" */
/** @import { Laying } from "./placement.js" */

const BETWEEN_ROTATIONS_MS = 100; // some mouse wheels send many events

/** A board, the tile in hand over it, and what it would score. Subclasses say what is known, and lay the tile. */
export class TilePlacer {
  /** @param {Rules} rules */
  constructor(rules) {
    this.hand = new Hand();
    this.lastRotation = 0; // when the wheel last turned the tile
    this.board = new Board(rules, {
      label: texts.boardHelp,
      onCellClick: (cell) => this.onCellClick(cell),
      onCellHover: (cell) => this.onCellHover(cell),
    });
    this.board.element.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.board.element.addEventListener("blur", () => this.board.showCursor(null));
    this.preview = html("p", { class: "preview" });
    this.controls = html("div", { class: "controls" });
  }

  // What a subclass has

  /**
   * What is known of the position.
   * @returns {Laying}
   */
  get laying() {
    throw new Error("a subclass says what is known");
  }

  /** Whether the person may place a tile now. */
  get placing() {
    return false;
  }

  /**
   * The tiles of the rack that is shown, by slot.
   * @returns {string[]}
   */
  get tiles() {
    return [];
  }

  /** Show the tile in hand, and the rack and buttons that go with it. */
  refresh() {}

  /** Show the tile in hand. */
  showHand() {
    this.refresh();
  }

  /**
   * Lay the tile in hand.
   * @param {{slot: number, cells: number[]}} decision
   */
  lay(decision) {
    void decision;
  }

  // The tile in hand

  /** The tile in hand over the board; null if it is nowhere. */
  get placement() {
    return this.placing ? findPlacement(this.laying, this.hand, this.board.grid) : null;
  }

  /** How the tile in hand is drawn. */
  get look() {
    if (!this.placement?.fits) return "wrong";
    return this.hand.fixed ? "fixed" : "over";
  }

  /** @param {number} slot */
  pick(slot) {
    if (!this.placing || !this.tiles[slot]) return;
    this.hand.slot = slot;
    this.refresh();
    announce(texts.inHand(nameTile(this.tiles[slot])));
    this.board.element.focus({ preventScroll: true });
  }

  /** @param {number | null} cell */
  onCellHover(cell) {
    if (this.hand.fixed) return;
    this.hand.anchor = cell;
    this.showHand();
  }

  /**
   * Put the tile on a cell; a second click turns it.
   * @param {number} cell
   */
  onCellClick(cell) {
    const { hand } = this;
    if (!this.placing) return;
    if (hand.slot === null) {
      this.say(texts.chooseTile);
      return;
    }
    if (hand.fixed && hand.anchor !== null && hand.cover(this.board.grid, hand.anchor).cells.includes(cell)) {
      this.rotate(1);
      return;
    }
    hand.anchor = cell;
    hand.fixed = hand.cover(this.board.grid, cell).fits;
    this.refresh();
    this.say(hand.fixed ? (this.preview.textContent ?? "") : describeMisfit(this.laying));
  }

  /** @param {1 | -1} by */
  rotate(by) {
    if (!this.placing || this.hand.slot === null) return;
    this.hand.rotate(by, this.board.grid);
    this.refresh();
    if (this.hand.anchor !== null) announce(this.preview.textContent ?? "");
  }

  undo() {
    if (this.hand.fixed) this.hand.fixed = false;
    else this.hand.slot = null;
    this.preview.textContent = "";
    this.refresh();
    announce(texts.takenBack);
  }

  confirm() {
    const { fixed, slot } = this.hand;
    const { placement } = this;
    if (fixed && slot !== null && placement?.fits) this.lay({ slot, cells: placement.cells });
  }

  /**
   * Show and announce a message.
   * @param {string} words
   */
  say(words) {
    this.preview.textContent = words;
    announce(words);
  }

  // Keys and the wheel

  /** @param {WheelEvent} event */
  onWheel(event) {
    if (!this.placing || this.hand.slot === null) return;
    event.preventDefault();
    if (event.timeStamp - this.lastRotation < BETWEEN_ROTATIONS_MS) return;
    this.lastRotation = event.timeStamp;
    this.rotate(event.deltaY > 0 ? 1 : -1);
  }

  /**
   * Return what a key does with the cursor or the tile in hand; null if it does nothing.
   * @param {KeyboardEvent} event
   * @returns {(() => void) | null}
   */
  findHandAction(event) {
    const { key } = event;
    if (key.startsWith("Arrow") && event.target === this.board.element) return () => this.moveCursor(key);
    if (!this.placing) return null;
    if (/^[1-9]$/.test(key)) return () => this.pick(Number(key) - 1);
    if (key === "r") return () => this.rotate(1);
    if (key === "R") return () => this.rotate(-1);
    if (key === "Escape") return () => this.undo();
    if (key === "Enter" && !isInside(event, "button, a, summary")) return () => this.onEnter();
    return null;
  }

  onEnter() {
    if (this.hand.fixed) this.confirm();
    else this.onCellClick(this.hand.anchor ?? this.middleCell);
  }

  get middleCell() {
    return (this.board.groups.length - 1) / 2;
  }

  /**
   * Move the cursor to the next cell, with the tile in hand.
   * @param {string} key
   */
  moveCursor(key) {
    const cell = this.hand.anchor === null ? this.middleCell : this.board.grid.follow(this.hand.anchor, key);
    this.hand.fixed = false;
    this.hand.anchor = cell;
    this.refresh();
    const { placement } = this;
    const words = `${this.board.grid.name(cell)}, ${this.board.describe(cell)}`;
    announce(placement ? `${words}. ${describePlacement(this.laying, this.board.grid, placement)}` : words);
  }
}
