// The board: cells that can be pointed at, tiles, and what is drawn over them.

import { html, svg } from "./dom.js";
import { HEX, centerOf, drawDisc, drawHalf, drawHexagon, nameColor } from "./tiles.js";
import { texts } from "./texts.js";

/** @import { Letter, Position, Rules } from "./api_types.js" */

/**
 * A straight line that half a tile scores: the cell of the half first, then the cells of its color.
 * @typedef {{letter: Letter, cells: number[]}} Line
 *
 * A tile that is not on the board: over it; put down there, but not laid; where it cannot be placed; the one that was
 * laid then; or a better placement.
 * @typedef {{cells: number[], tile: string, look: "over" | "fixed" | "wrong" | "played" | "better"}} Ghost
 *
 * A label on a pair of cells.
 * @typedef {{cells: number[], words: string, square: boolean}} Pill
 *
 * @typedef {{marks?: number[], lines?: Line[], ghosts?: Ghost[], pills?: Pill[]}} Drawing
 */

const FREE = ".";
const EDGE = 14; // beside the board, for the names of its rows
const DIRECTIONS = [0, 1, 2, 3, 4, 5];
const STEPS = [[1, 0], [1, -1], [0, -1], [-1, 0], [-1, 1], [0, 1]]; // (q, r) by direction

/** The cells of a board, and how they lie to each other. */
export class Grid {
  /** @param {Rules} rules */
  constructor(rules) {
    this.cells = rules.cells;
    this.index = new Map(rules.cells.map(([q, r], cell) => [`${q},${r}`, cell]));
  }

  /**
   * Return the next cell in a direction; undefined over the edge.
   * @param {number} cell
   * @param {number} direction
   */
  neighbour(cell, direction) {
    const [q, r] = this.cells[cell];
    return this.index.get(`${q + STEPS[direction][0]},${r + STEPS[direction][1]}`);
  }

  /**
   * Return the direction from a cell to its neighbour.
   * @param {number} from
   * @param {number} to
   */
  directionTo(from, to) {
    return DIRECTIONS.find((direction) => this.neighbour(from, direction) === to) ?? 0;
  }

  /**
   * Return the cells from a cell on in a direction.
   * @param {number} cell
   * @param {number} direction
   * @param {number} length the number of cells after the first
   */
  ray(cell, direction, length) {
    const ray = [cell];
    while (ray.length <= length) {
      const next = this.neighbour(ray[ray.length - 1], direction);
      if (next === undefined) break;
      ray.push(next);
    }
    return ray;
  }

  /**
   * Return the lines that a tile scores on two cells.
   * @param {Position} position
   * @param {number[]} cells
   * @param {string} tile
   * @returns {Line[]}
   */
  scoringLines({ board, runs }, cells, tile) {
    return [0, 1].flatMap((half) =>
      DIRECTIONS.flatMap((direction) => {
        const length = parseInt(runs[6 * cells[half] + direction], 36);
        const line = this.ray(cells[half], direction, length);
        if (line.length === 1 || line[1] === cells[1 - half] || board[line[1]] !== tile[half]) return [];
        return [{ letter: tile[half], cells: line }];
      }),
    );
  }

  /**
   * Return the cell to which an arrow key leads. Left and right follow a row; up and down zigzag within a column.
   * @param {number} cell
   * @param {string} key
   */
  follow(cell, key) {
    const isEven = this.cells[cell][1] % 2 === 0;
    /** @type {Record<string, number[]>} */
    const directions = {
      ArrowRight: [0],
      ArrowLeft: [3],
      ArrowUp: isEven ? [1, 2] : [2, 1],
      ArrowDown: isEven ? [5, 4] : [4, 5],
    };
    const next = (directions[key] ?? []).map((direction) => this.neighbour(cell, direction));
    return next.find((found) => found !== undefined) ?? cell;
  }

  /**
   * Return whether a cell is the leftmost of its row.
   * @param {number} cell
   */
  isFirst(cell) {
    return cell === 0 || this.cells[cell - 1][1] !== this.cells[cell][1];
  }

  /**
   * Return whether a cell is the rightmost of its row.
   * @param {number} cell
   */
  isLast(cell) {
    return cell === this.cells.length - 1 || this.isFirst(cell + 1);
  }

  /**
   * Name a cell by its row, A at the top, and its place in the row from the left.
   * @param {number} cell
   */
  name(cell) {
    const [q, r] = this.cells[cell];
    const row = this.cells.filter((other) => other[1] === r);
    return `${String.fromCharCode(65 + r - this.cells[0][1])}${q - row[0][0] + 1}`;
  }
}

/** The board on the page. */
export class Board {
  /**
   * @param {Rules} rules
   * @param {object} options
   * @param {string} options.label for screen readers
   * @param {((cell: number) => void) | null} [options.onCellClick]
   * @param {((cell: number | null) => void) | null} [options.onCellHover] null: the mouse has left the board
   */
  constructor(rules, { label, onCellClick = null, onCellHover = null }) {
    this.grid = new Grid(rules);
    this.startSymbols = new Set(rules.start_symbols);
    /** @type {string | null} */
    this.letters = null;
    this.focus = (rules.cells.length - 1) / 2; // the cell that stays in view while the board is enlarged
    this.groups = rules.cells.map((cell, number) => {
      const place = this.grid.name(number).slice(1);
      return createCell(cell, number, place, onCellClick, onCellHover);
    });
    this.below = svg("g");
    this.over = svg("g", { class: "over" });
    this.cursor = drawHexagon(HEX * 0.97, { class: "cursor", visibility: "hidden" });
    const rowNames = rules.cells.flatMap((cell, number) => [
      ...(this.grid.isFirst(number) ? [drawRowName(cell, this.grid.name(number)[0], -1)] : []),
      ...(this.grid.isLast(number) ? [drawRowName(cell, this.grid.name(number)[0], 1)] : []),
    ]);
    const width = Math.sqrt(3) * HEX * (2 * rules.side - 1) + 2 * EDGE;
    const height = HEX * (3 * rules.side - 1) + 6;
    this.element = svg(
      "svg",
      {
        class: "board",
        viewBox: `${-width / 2} ${-height / 2} ${width} ${height}`,
        role: onCellClick ? "application" : "img",
        tabindex: onCellClick ? 0 : null,
        "aria-label": label,
        onpointerleave: () => onCellHover?.(null),
      },
      rowNames,
      this.groups,
      this.below,
      this.over,
      this.cursor,
    );
  }

  /**
   * Show tiles.
   * @param {string} letters one for each cell
   * @param {Set<number> | null} open the cells that may be covered, if the others are to be faint
   */
  show(letters, open = null) {
    this.groups.forEach((group, cell) => {
      if (this.letters === null || this.letters[cell] !== letters[cell]) {
        group.replaceChildren(group.children[0], ...this.drawCovered(letters[cell], cell));
      }
      group.classList.toggle("cannot", open !== null && letters[cell] === FREE && !open.has(cell));
    });
    this.letters = letters;
  }

  /**
   * @param {string} letter
   * @param {number} cell
   */
  drawCovered(letter, cell) {
    if (letter === FREE) return [];
    return [this.startSymbols.has(cell) ? drawDisc(letter) : drawHalf(letter)];
  }

  /**
   * Draw over the tiles, in place of what was drawn before.
   * @param {Drawing} drawing
   */
  draw({ marks = [], lines = [], ghosts = [], pills = [] }) {
    const focus = ghosts[ghosts.length - 1]?.cells[0] ?? marks[marks.length - 1] ?? this.focus;
    if (focus !== this.focus) {
      this.focus = focus;
      this.showFocus("nearest");
    }
    const halves = ghosts.flatMap((ghost) => ghost.cells.map((cell, side) => this.drawGhost(cell, ghost, side)));
    const pairs = pills.filter(({ square }) => !square).map(({ cells }) => cells.map((cell) => this.center(cell)));
    this.below.replaceChildren(...pairs.map(([first, second]) => drawPillLine(first, second)), ...halves);
    this.over.replaceChildren(
      ...marks.map((cell) => drawHexagon(HEX * 0.9, { class: "mark", transform: this.translation(cell) })),
      ...lines.flatMap(({ cells }) => drawLine(this.center(cells[0]), this.center(cells[cells.length - 1]))),
      ...lines.map(({ cells }) => {
        const [from, to] = cells.slice(-2);
        return drawBadge(this.center(from), this.center(to), cells.length - 1);
      }),
      ...pills.map((pill) => drawPill(this.center(pill.cells[0]), this.center(pill.cells[1]), pill)),
    );
  }

  /**
   * Scroll an enlarged board to the cell that matters.
   * @param {ScrollLogicalPosition} where
   */
  showFocus(where) {
    if (this.element.closest(".large")) this.groups[this.focus].scrollIntoView({ block: where, inline: where });
  }

  /** @param {number} cell */
  center(cell) {
    return centerOf(this.grid.cells[cell]);
  }

  /** @param {number} cell */
  translation(cell) {
    return `translate(${this.center(cell).join(" ")})`;
  }

  /**
   * @param {number} cell
   * @param {Ghost} ghost
   * @param {number} side which half
   */
  drawGhost(cell, ghost, side) {
    const transform = this.translation(cell);
    const edge = drawHexagon(HEX * 0.93, { class: "edge" });
    const half = ghost.look === "wrong" ? null : drawHalf(ghost.tile[side]);
    return svg("g", { class: `ghost ${ghost.look}`, transform }, half, edge);
  }

  /**
   * Show where the keyboard is.
   * @param {number | null} cell null for nowhere
   */
  showCursor(cell) {
    this.cursor.setAttribute("visibility", cell === null ? "hidden" : "visible");
    if (cell !== null) this.cursor.setAttribute("transform", this.translation(cell));
  }

  /**
   * Say what lies on a cell.
   * @param {number} cell
   */
  describe(cell) {
    const letter = this.letters?.[cell] ?? FREE;
    if (letter === FREE) return texts.free;
    return this.startSymbols.has(cell) ? texts.startSymbol(nameColor(letter)) : nameColor(letter);
  }
}

/**
 * @param {[number, number]} cell
 * @param {number} number
 * @param {string} place its place in its row, which is written on it while it is free
 * @param {((cell: number) => void) | null} onClick
 * @param {((cell: number) => void) | null} onHover
 */
function createCell(cell, number, place, onClick, onHover) {
  const [x, y] = centerOf(cell);
  return svg(
    "g",
    {
      class: "cell",
      "data-cell": number,
      transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})`,
      onclick: onClick && (() => onClick(number)),
      onpointerenter: (event) => event.pointerType === "mouse" && onHover?.(number),
    },
    svg(
      "g",
      {},
      drawHexagon(HEX * 0.96, { class: "free" }),
      svg("text", { class: "cell-name", y: 3, "font-size": 8, "aria-hidden": true }, place),
    ),
  );
}

/**
 * @param {[number, number]} cell the first or the last of the row
 * @param {string} letter
 * @param {-1 | 1} side left or right of the cell
 */
function drawRowName(cell, letter, side) {
  const [x, y] = centerOf(cell);
  const attributes = { class: "row-name", x: x + side * (HEX + 4), y: y + 3, "font-size": 9, "aria-hidden": true };
  return svg("text", attributes, letter);
}

/**
 * @param {[number, number]} from
 * @param {[number, number]} to
 */
function drawLine([x1, y1], [x2, y2]) {
  return [svg("line", { x1, y1, x2, y2, class: "line under" }), svg("line", { x1, y1, x2, y2, class: "line" })];
}

/**
 * Draw the points of a line behind its last cell.
 * @param {[number, number]} beforeLast
 * @param {[number, number]} last
 * @param {number} points
 */
function drawBadge([fromX, fromY], [x, y], points) {
  return svg(
    "g",
    { class: "points", transform: `translate(${x + 0.4 * (x - fromX)} ${y + 0.4 * (y - fromY)})` },
    svg("circle", { r: 7 }),
    svg("text", { y: 3.6, "font-size": 10 }, String(points)),
  );
}

/**
 * @param {[number, number]} first
 * @param {[number, number]} second
 * @param {Pill} pill
 */
function drawPill([x1, y1], [x2, y2], { words, square }) {
  const width = 9 + 7 * words.length;
  return svg(
    "g",
    { class: square ? "pill square" : "pill", transform: `translate(${(x1 + x2) / 2} ${(y1 + y2) / 2})` },
    svg("rect", { x: -width / 2, y: -8, width, height: 16, rx: square ? 0 : 8 }),
    svg("text", { y: 4, "font-size": 11 }, words),
  );
}

/**
 * Mark a pair of cells that have a label.
 * @param {[number, number]} first
 * @param {[number, number]} second
 */
function drawPillLine([x1, y1], [x2, y2]) {
  return svg("line", { x1, y1, x2, y2, class: "pill-line" });
}

/**
 * Put a board into a frame, in which it can be enlarged and moved. The button for it is shown where cells are small.
 * @param {Board} board
 */
export function frameBoard(board) {
  const zoom = () => {
    const isLarge = frame.classList.toggle("large");
    button.textContent = isLarge ? texts.wholeBoard : texts.largerCells;
    if (isLarge) board.showFocus("center");
  };
  const button = html("button", { type: "button", class: "zoom", onclick: zoom }, texts.largerCells);
  const frame = html("div", { class: "board-frame" }, html("div", { class: "board-window" }, board.element), button);
  return frame;
}
