// The board: cells to point at, tiles, and what is drawn over them.

import { h, s } from "./dom.js";
import { HEX, centre, half, hexagon, inWords, printed } from "./look.js";

const EDGE = 14; // beside the board, for the names of its rows
const STEPS = [[1, 0], [1, -1], [0, -1], [-1, 0], [-1, 1], [0, 1]];

/** Cells, their neighbours, and the lines that tiles score, of one set of rules. */
export class Grid {
  constructor(rules) {
    this.cells = rules.cells;
    this.printed = new Map(rules.printed.map((cell, color) => [cell, rules.colors[color]]));
    this.index = new Map(rules.cells.map(([q, r], cell) => [`${q},${r}`, cell]));
  }

  /** The next cell in a direction, 0 to 5; undefined over the edge. */
  beside(cell, direction) {
    const [q, r] = this.cells[cell];
    return this.index.get(`${q + STEPS[direction][0]},${r + STEPS[direction][1]}`);
  }

  /** The direction from a cell to its neighbour. */
  direction(from, to) {
    return [0, 1, 2, 3, 4, 5].find((d) => this.beside(from, d) === to);
  }

  /** The lines that a tile scores: the half's cell first, then the cells of its color. */
  lines(board, cells, tile) {
    const found = [];
    [0, 1].forEach((own) => {
      for (let d = 0; d < 6; d++) {
        const line = [cells[own]];
        let next = this.beside(cells[own], d);
        while (next !== undefined && !cells.includes(next) && board[next] === tile[own]) {
          line.push(next);
          next = this.beside(next, d);
        }
        if (line.length > 1) found.push({ half: own, letter: tile[own], cells: line });
      }
    });
    return found;
  }

  /** Where a key leads to from a cell; rows are straight, up and down go to and fro so that a column is one. */
  step(cell, key) {
    const [, r] = this.cells[cell];
    const even = r % 2 === 0;
    const ways = {
      ArrowRight: [0],
      ArrowLeft: [3],
      ArrowUp: even ? [1, 2] : [2, 1],
      ArrowDown: even ? [5, 4] : [4, 5],
    }[key];
    if (ways === undefined) return undefined;
    const next = ways.map((d) => this.beside(cell, d)).find((found) => found !== undefined);
    return next === undefined ? cell : next;
  }

  /** Whether a cell is the leftmost of its row. */
  isFirst(cell) {
    return cell === 0 || this.cells[cell - 1][1] !== this.cells[cell][1];
  }

  /** What a cell is called: its row, A at the top, and its place in it from the left. */
  name(cell) {
    const [q, r] = this.cells[cell];
    const row = this.cells.filter((other) => other[1] === r);
    const rows = this.cells.at(-1)[1];
    return `${String.fromCharCode(65 + r + rows)}${q - row[0][0] + 1}`;
  }
}

/** The board on the page. `taken` is called with a cell that is clicked, `pointed` with one that the mouse is over. */
export class Board {
  constructor(rules, { label, taken = null, pointed = null }) {
    this.grid = new Grid(rules);
    this.letters = null;
    this.groups = rules.cells.map((cell, number) => this.cellGroup(cell, number, taken, pointed));
    this.below = s("g");
    const rowNames = rules.cells.flatMap((cell, number) => (this.grid.isFirst(number) ? [rowName(cell, this.grid.name(number)[0])] : []));
    this.over = s("g", { class: "over" });
    this.cursor = hexagon(HEX * 0.97, { class: "cursor", visibility: "hidden" });
    const across = Math.sqrt(3) * HEX * (2 * rules.side - 1) + 2 * EDGE;
    const down = HEX * (3 * rules.side - 1) + 6;
    this.element = s(
      "svg",
      {
        class: "board",
        viewBox: `${-across / 2} ${-down / 2} ${across} ${down}`,
        role: taken ? "application" : "img",
        tabindex: taken ? 0 : null,
        "aria-label": label,
        onpointerleave: () => pointed?.(null),
      },
      rowNames,
      this.groups,
      this.below,
      this.over,
      this.cursor,
    );
  }

  cellGroup([q, r], number, taken, pointed) {
    const [x, y] = centre([q, r]);
    const mouse = (event) => event.pointerType === "mouse" && pointed?.(number);
    return s(
      "g",
      {
        class: "cell",
        "data-cell": number,
        transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})`,
        onclick: taken && (() => taken(number)),
        onpointerenter: mouse,
      },
      hexagon(HEX * 0.96, { class: "free" }),
    );
  }

  /** Put the tiles down: a letter a cell. `can` says which cells may be covered, if that is to be seen. */
  show(letters, can = null) {
    this.groups.forEach((group, cell) => {
      if (this.letters === null || this.letters[cell] !== letters[cell]) {
        group.replaceChildren(group.firstChild, ...this.onCell(letters[cell], cell));
      }
      group.classList.toggle("cannot", can !== null && letters[cell] === "." && !can.has(cell));
    });
    this.letters = letters;
  }

  onCell(letter, cell) {
    if (letter === ".") return [];
    return [this.grid.printed.has(cell) ? printed(letter) : half(letter)];
  }

  /** Draw over the tiles: {marks: cells, lines, ghost: {cells, tile, wrong}, pills: [{cells, words, chosen}]}. */
  draw({ marks = [], lines = [], ghost = null, pills = [] }) {
    const at = (cell) => centre(this.grid.cells[cell]);
    const moved = (cell) => `translate(${at(cell).join(" ")})`;
    this.below.replaceChildren(
      ...(ghost ? ghost.cells.map((cell, side) => this.ghostHalf(moved(cell), ghost, side)) : []),
    );
    this.over.replaceChildren(
      ...marks.map((cell) => hexagon(HEX * 0.9, { class: "mark", transform: moved(cell) })),
      ...lines.flatMap((line) => scoringLine(at(line.cells[0]), at(line.cells.at(-1)))),
      ...lines.map((line) => badge(at(line.cells.at(-2)), at(line.cells.at(-1)), line.cells.length - 1)),
      ...pills.map(({ cells, words, chosen }) => pill(at(cells[0]), at(cells[1]), words, chosen)),
    );
  }

  ghostHalf(transform, ghost, side) {
    const edge = hexagon(HEX * 0.93, { class: "edge" });
    if (ghost.wrong) return s("g", { class: "ghost wrong", transform }, edge);
    return s("g", { class: ghost.fixed ? "ghost fixed" : "ghost", transform }, half(ghost.tile[side]), edge);
  }

  /** Show where the keyboard is; null for nowhere. */
  pointAt(cell) {
    if (cell === null) {
      this.cursor.setAttribute("visibility", "hidden");
      return;
    }
    this.cursor.setAttribute("visibility", "visible");
    this.cursor.setAttribute("transform", `translate(${centre(this.grid.cells[cell]).join(" ")})`);
  }

  /** What lies on a cell, in words. */
  words(cell) {
    const letter = this.letters[cell];
    if (letter === ".") return "free";
    return this.grid.printed.has(cell) ? `printed ${inWords(letter)}` : inWords(letter);
  }
}

function rowName(cell, letter) {
  const [x, y] = centre(cell);
  return s("text", { class: "row-name", x: x - HEX - 4, y: y + 3, "font-size": 9, "aria-hidden": true }, letter);
}

function scoringLine([x1, y1], [x2, y2]) {
  return [s("line", { x1, y1, x2, y2, class: "line under" }), s("line", { x1, y1, x2, y2, class: "line" })];
}

function badge([fromX, fromY], [x, y], points) {
  const [atX, atY] = [x + 0.4 * (x - fromX), y + 0.4 * (y - fromY)];
  return s(
    "g",
    { class: "points", transform: `translate(${atX} ${atY})` },
    s("circle", { r: 7 }),
    s("text", { y: 3.6, "font-size": 10 }, String(points)),
  );
}

function pill([x1, y1], [x2, y2], words, chosen) {
  return s(
    "g",
    { class: chosen ? "pill chosen" : "pill" },
    s("line", { x1, y1, x2, y2, class: "pill-line" }),
    s("circle", { cx: (x1 + x2) / 2, cy: (y1 + y2) / 2, r: 8 }),
    s("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 + 4, "font-size": 11 }, words),
  );
}

/** A board and its frame. */
export const framed = (board) => h("div", { class: "board-frame" }, board.element);
