// The tile that a person holds.

/** @import { Grid } from "./board.js" */

const DIRECTIONS = [0, 1, 2, 3, 4, 5];

/** The tile in hand: the slot that it comes from, the cell that it is over, its direction, whether it was put down. */
export class Hand {
  constructor() {
    this.direction = 0;
    /** @type {Set<string>} */
    this.pairs = new Set();
    /** @type {number | null} */
    this.slot = null;
    /** @type {number | null} */
    this.anchor = null;
    this.fixed = false;
  }

  /**
   * Take a new position: there is no tile in hand.
   * @param {[number, number][]} pairs of cells that a tile may cover
   */
  reset(pairs) {
    this.pairs = new Set(pairs.flatMap(([a, b]) => [`${a},${b}`, `${b},${a}`]));
    this.slot = null;
    this.anchor = null;
    this.fixed = false;
  }

  /**
   * Return the directions in which the tile fits, the current one first and then counterclockwise.
   * @param {Grid} grid
   * @param {number} anchor
   */
  fittingDirections(grid, anchor) {
    return DIRECTIONS.map((turn) => (this.direction + turn) % 6).filter((direction) =>
      this.pairs.has(`${anchor},${grid.neighbour(anchor, direction)}`),
    );
  }

  /**
   * Return where the halves lie: in the current direction, or in the next one that fits.
   * @param {Grid} grid
   * @param {number} anchor
   */
  cover(grid, anchor) {
    const fitting = this.fittingDirections(grid, anchor);
    const other = grid.neighbour(anchor, fitting[0] ?? this.direction);
    return { fits: fitting.length > 0, cells: other === undefined ? [anchor] : [anchor, other] };
  }

  /**
   * Turn the tile to the next direction that fits.
   * @param {1 | -1} by counterclockwise or clockwise
   * @param {Grid} grid
   */
  rotate(by, grid) {
    if (this.anchor === null) {
      this.direction = (this.direction + by + 6) % 6;
      return;
    }
    const fitting = this.fittingDirections(grid, this.anchor);
    if (fitting.length) this.direction = by > 0 ? (fitting[1] ?? fitting[0]) : fitting[fitting.length - 1];
  }

  /**
   * Put a tile down.
   * @param {number} slot
   * @param {[number, number]} cells
   * @param {Grid} grid
   */
  put(slot, cells, grid) {
    this.slot = slot;
    this.anchor = cells[0];
    this.direction = grid.directionTo(cells[0], cells[1]);
    this.fixed = true;
  }
}
