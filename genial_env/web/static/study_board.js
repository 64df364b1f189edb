// A board on which a person tries a move: the rack, the tile in hand, what it scores. Used for analysis and lessons.

import { frameBoard } from "./board.js";
import { createButtons, createRack } from "./controls.js";
import { fill, isForeignKey } from "./dom.js";
import { describePlacement } from "./placement.js";
import { TilePlacer } from "./tile_placer.js";

/** @import { Drawing } from "./board.js" */
/** @import { Move, Shown } from "./api_types.js" */

export class StudyBoard extends TilePlacer {
  /**
   * @param {Shown} shown
   * @param {{onMove: (move: Move) => unknown, onCell?: ((cell: number) => boolean) | null}} options onCell: called with
   *   a cell that is clicked; it returns whether that was all
   */
  constructor(shown, { onMove, onCell = null }) {
    super(shown.rules);
    this.onMove = onMove;
    this.onCell = onCell;
    this.locked = false; // whether no move can be made
    /** @type {Drawing} */
    this.drawing = {};
    this.frame = frameBoard(this.board);
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

  get laying() {
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

  refresh() {
    const { placement, placing, hand } = this;
    if (placement) {
      this.board.draw({ lines: placement.lines, ghosts: [{ ...placement, look: this.look }] });
      this.preview.textContent = describePlacement(this.laying, this.board.grid, placement);
    } else {
      this.board.draw(this.drawing);
    }
    this.board.showCursor(document.activeElement === this.board.element ? hand.anchor : null);
    const choosing = !this.locked && Boolean(this.shown.choice);
    const state = { choosing, placing, isHeld: hand.slot !== null, isFixed: hand.fixed };
    const rack = createRack(this.tiles, { chosen: hand.slot, disabled: !placing, onPick: (slot) => this.pick(slot) });
    const buttons = createButtons({ ...this.laying, judge: false }, state, {
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
    if (this.hand.slot !== null) super.onCellHover(cell);
  }

  /** @param {number} cell */
  onCellClick(cell) {
    if (!this.onCell?.(cell)) super.onCellClick(cell);
  }

  /** @param {{slot: number, cells: number[]}} decision */
  lay(decision) {
    this.onMove(decision);
  }

  /**
   * Handle a key; return whether it was for the board.
   * @param {KeyboardEvent} event
   */
  onKey(event) {
    if (isForeignKey(event) || !this.placing) return false;
    const action = this.findHandAction(event);
    if (action === null) return false;
    action();
    event.preventDefault();
    return true;
  }
}
