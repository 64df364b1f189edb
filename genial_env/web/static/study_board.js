// A board on which a person tries a move: the rack, the tile in hand, what it scores. Used for analysis and lessons.

import { Board, frameBoard } from "./board.js";
import { createButtons, createRack } from "./controls.js";
import { announce, fill, html, isForeignKey, isInside } from "./dom.js";
import { Hand } from "./hand.js";
import { describeMisfit, describePlacement, findPlacement } from "./placement.js";
import { nameTile } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { Drawing } from "./board.js" */
/** @import { Move, Shown } from "./api_types.js" */

export class StudyBoard {
  /**
   * @param {Shown} shown
   * @param {{onMove: (move: Move) => unknown, onCell?: ((cell: number) => boolean) | null}} options onCell: called with
   *   a cell that is clicked; it returns whether that was all
   */
  constructor(shown, { onMove, onCell = null }) {
    this.onMove = onMove;
    this.onCell = onCell;
    this.hand = new Hand();
    this.locked = false; // whether no move can be made
    /** @type {Drawing} */
    this.drawing = {};
    this.board = new Board(shown.rules, {
      label: texts.boardHelp,
      onCellClick: (cell) => this.onCellClick(cell),
      onCellHover: (cell) => this.onCellHover(cell),
    });
    this.board.element.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.board.element.addEventListener("blur", () => this.board.showCursor(null));
    this.frame = frameBoard(this.board);
    this.preview = html("p", { class: "preview" });
    this.controls = html("div", { class: "controls" });
    this.shown = shown;
    this.show(shown);
  }

  /**
   * Show a position.
   * @param {Shown} shown
   * @param {{drawing?: Drawing, locked?: boolean}} options drawing: what is drawn over the board while no tile is over it
   */
  show(shown, { drawing = {}, locked = false } = {}) {
    this.shown = shown;
    this.drawing = drawing;
    this.locked = locked;
    this.hand.reset(shown.choice?.pairs ?? []);
    const { choice, position } = shown;
    this.board.show(position.board, choice?.first_tile && !locked ? new Set(choice.pairs.flat()) : null);
    this.preview.textContent = "";
    this.refresh();
  }

  /** @param {Drawing} drawing */
  draw(drawing) {
    this.drawing = drawing;
    this.refresh();
  }

  get game() {
    return { ...this.shown, seat: this.shown.position.to_play };
  }

  get placing() {
    return !this.locked && (this.shown.choice?.pairs.length ?? 0) > 0;
  }

  /** The tiles of the rack of the seat to play; none if it is hidden. */
  get tiles() {
    const rack = this.shown.position.racks[this.shown.position.to_play];
    return typeof rack === "number" ? [] : rack;
  }

  get placement() {
    return this.placing ? findPlacement(this.game, this.hand, this.board.grid) : null;
  }

  refresh() {
    const { placement, placing, hand } = this;
    if (placement) {
      const look = placement.fits ? (hand.fixed ? "fixed" : "over") : "wrong";
      this.board.draw({ lines: placement.lines, ghosts: [{ ...placement, look }] });
      this.preview.textContent = describePlacement(this.game, this.board.grid, placement);
    } else {
      this.board.draw(this.drawing);
    }
    this.board.showCursor(document.activeElement === this.board.element ? hand.anchor : null);
    const choosing = !this.locked && Boolean(this.shown.choice);
    const state = { choosing, placing, isHeld: hand.slot !== null, isFixed: hand.fixed };
    const rack = createRack(this.tiles, { chosen: hand.slot, disabled: !placing, onPick: (slot) => this.pick(slot) });
    const buttons = createButtons({ ...this.game, judge: false }, state, {
      lay: () => this.confirm(),
      takeBack: () => this.undo(),
      rotate: () => this.rotate(1),
      hint: () => {},
      swap: () => this.onMove({ word: "swap" }),
      decline: () => this.onMove({ word: "decline" }),
    });
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.act : undefined;
    fill(this.controls, this.tiles.length ? rack : null, choosing ? buttons : null);
    const again = focused && this.controls.querySelector(`[data-act="${focused}"]:not(:disabled)`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  }

  /** @param {number} slot */
  pick(slot) {
    if (!this.placing || !this.tiles[slot]) return;
    this.hand.slot = slot;
    this.refresh();
    announce(texts.inHand(nameTile(this.tiles[slot])));
    this.board.element.focus({ preventScroll: true });
  }

  /**
   * Put a tile down, as if a person had done it.
   * @param {number} slot
   * @param {[number, number]} cells
   */
  put(slot, cells) {
    if (!this.placing) return;
    this.hand.put(slot, cells, this.board.grid);
    this.refresh();
  }

  /** @param {number | null} cell */
  onCellHover(cell) {
    if (this.hand.fixed || this.hand.slot === null) return;
    this.hand.anchor = cell;
    this.refresh();
  }

  /** @param {number} cell */
  onCellClick(cell) {
    if (this.onCell?.(cell) || !this.placing) return;
    const { hand } = this;
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
    this.say(hand.fixed ? (this.preview.textContent ?? "") : describeMisfit(this.game));
  }

  /** @param {1 | -1} by */
  rotate(by) {
    if (!this.placing || this.hand.slot === null) return;
    this.hand.rotate(by, this.board.grid);
    this.refresh();
  }

  undo() {
    if (this.hand.fixed) this.hand.fixed = false;
    else this.hand.reset(this.shown.choice?.pairs ?? []);
    this.preview.textContent = "";
    this.refresh();
    announce(texts.takenBack);
  }

  /** @param {string} words */
  say(words) {
    this.preview.textContent = words;
    announce(words);
  }

  confirm() {
    const { fixed, slot } = this.hand;
    const { placement } = this;
    if (fixed && slot !== null && placement?.fits) this.onMove({ slot, cells: placement.cells });
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    if (!this.placing || this.hand.slot === null) return;
    event.preventDefault();
    this.rotate(event.deltaY > 0 ? 1 : -1);
  }

  /**
   * Handle a key; return whether it was for the board.
   * @param {KeyboardEvent} event
   */
  onKey(event) {
    if (isForeignKey(event) || !this.placing) return false;
    const { key } = event;
    const cell = this.hand.anchor ?? (this.board.groups.length - 1) / 2;
    if (key.startsWith("Arrow") && event.target === this.board.element) {
      this.hand.anchor = this.hand.anchor === null ? cell : this.board.grid.follow(cell, key);
      this.hand.fixed = false;
      this.refresh();
      announce(`${this.board.grid.name(this.hand.anchor)}, ${this.board.describe(this.hand.anchor)}`);
    } else if (/^[1-9]$/.test(key)) this.pick(Number(key) - 1);
    else if (key === "r" || key === "R") this.rotate(key === "r" ? 1 : -1);
    else if (key === "Escape") this.undo();
    else if (key === "Enter" && !isInside(event, "button, a, summary")) {
      if (this.hand.fixed) this.confirm();
      else this.onCellClick(cell);
    } else return false;
    event.preventDefault();
    return true;
  }
}
