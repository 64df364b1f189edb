// The replay of a page of its own: it steps through the positions of a game that is written into the page, or packed into
// its address. genial_env/render/replay_page.py makes the page and describes the data.

/**
 * @typedef {object} Frame
 * @property {string} board a letter for each cell; "." is a free cell
 * @property {number[][]} scores the markers of each track
 * @property {(string[] | number)[]} racks for each seat its tiles, or their number
 * @property {number[]} marks the cells of the last tile
 * @property {string} words what happened
 *
 * @typedef {object} Shown
 * @property {string} title
 * @property {number} side
 * @property {number[]} symbols the cells of the printed symbols
 * @property {string} colors
 * @property {string[]} names of the seats
 * @property {number[][]} tracks the seats of each track
 * @property {number} top the end of a track
 * @property {[string, string, string, string]} labels of back, next, play and the slider
 * @property {Frame[]} frames
 *
 * @typedef {{colors: Record<string, string>, symbols: Record<string, string>, tile: string, free: string, edge: string,
 *   mark: string}} Paint
 */

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const HEX = 20;
  const WIDE = Math.sqrt(3) * HEX;
  const STEP_MS = 1100;

  /** @param {string} id */
  const readJson = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");
  /** @type {Paint} */
  const paint = readJson("paint");

  /**
   * @param {string} tag
   * @param {Record<string, string | number>} attributes
   * @param {Node[]} children
   */
  const svg = (tag, attributes, children = []) => {
    const element = document.createElementNS(SVG, tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, String(value)));
    element.append(...children);
    return element;
  };

  /**
   * @param {string} tag
   * @param {(Node | string)[]} children
   * @param {string} [name] of its class
   */
  const html = (tag, children = [], name = "") => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children);
    return element;
  };

  /** @param {number} radius */
  const hexagon = (radius) =>
    [0, 1, 2, 3, 4, 5]
      .map((k) => [radius * Math.sin((Math.PI / 3) * k), -radius * Math.cos((Math.PI / 3) * k)])
      .map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`)
      .join(" ");

  /** @param {string} letter @param {number} radius @param {boolean} printed */
  const half = (letter, radius, printed) => [
    printed
      ? svg("circle", { r: radius * 0.72, fill: paint.tile })
      : svg("polygon", { points: hexagon(radius * 0.97), fill: paint.tile }),
    svg("path", { d: paint.symbols[letter], fill: paint.colors[letter], transform: `scale(${radius * (printed ? 0.5 : 0.62)})` }),
  ];

  /** @param {number} side */
  const listCells = (side) => {
    const cells = [];
    for (let r = 1 - side; r < side; r += 1) {
      for (let q = Math.max(1 - side, 1 - side - r); q <= Math.min(side - 1, side - 1 - r); q += 1) {
        cells.push([WIDE * (q + r / 2), 1.5 * HEX * r]);
      }
    }
    return cells;
  };

  /** @param {Shown} game @param {Frame} frame */
  const drawBoard = ({ side, symbols }, { board, marks }) => {
    const width = WIDE * (2 * side - 1) + 4;
    const height = HEX * (3 * side - 1) + 4;
    const cells = listCells(side).map(([x, y], cell) => {
      const parts = [svg("polygon", { points: hexagon(HEX * 0.96), fill: paint.free, stroke: paint.edge })];
      if (board[cell] !== ".") parts.push(...half(board[cell], HEX, symbols.includes(cell)));
      if (marks.includes(cell)) {
        parts.push(svg("polygon", { points: hexagon(HEX * 0.9), fill: "none", stroke: paint.mark, "stroke-width": 2.4 }));
      }
      return svg("g", { transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})` }, parts);
    });
    return svg("svg", { viewBox: `${-width / 2} ${-height / 2} ${width} ${height}`, role: "img", class: "board" }, cells);
  };

  /** @param {string[] | number} rack */
  const drawRack = (rack) => {
    const tiles = typeof rack === "number" ? Array(rack).fill("") : rack.filter(Boolean);
    const drawn = tiles.map((tile) => {
      const halves = [-9, 9].map((x, at) =>
        svg("g", { transform: `translate(${x} 0)` }, tile ? half(tile[at], 10, false) : [svg("polygon", { points: hexagon(9.7), fill: paint.edge })]),
      );
      return svg("svg", { viewBox: "-18 -10 36 20", width: 36, height: 20, role: "img", "aria-label": tile || "?" }, halves);
    });
    return html("div", drawn, "rack");
  };

  /** @param {Shown} game @param {Frame} frame @param {number} track */
  const drawTrack = ({ colors, tracks, names, top }, { scores, racks }, track) => {
    const rows = [...colors].map((letter, color) => {
      const score = scores[track][color];
      const disc = svg("svg", { viewBox: "-10 -10 20 20", width: 16, height: 16 }, half(letter, 13, true));
      const bar = svg("svg", { viewBox: `0 0 ${top} 1`, preserveAspectRatio: "none", class: "bar" }, [
        svg("rect", { width: score, height: 1, fill: paint.colors[letter] }),
      ]);
      return html("div", [disc, bar, html("span", [String(score)], "count")], "marker");
    });
    const title = html("h2", [tracks[track].map((seat) => names[seat]).join(" + ")]);
    return html("section", [title, ...rows, ...tracks[track].map((seat) => drawRack(racks[seat]))]);
  };

  /** @param {Shown} game @param {number} first */
  const start = (game, first) => {
    const last = game.frames.length - 1;
    let at = 0;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    let timer;
    const place = html("div", [], "game");
    const words = html("p");
    words.setAttribute("role", "status");
    const slider = Object.assign(document.createElement("input"), { type: "range", min: "0", max: String(last) });
    slider.setAttribute("aria-label", game.labels[3]);
    const stop = () => {
      clearInterval(timer);
      timer = undefined;
    };
    /** @param {number} to */
    const go = (to) => {
      at = Math.max(0, Math.min(last, to));
      const frame = game.frames[at];
      place.replaceChildren(drawBoard(game, frame), html("div", game.tracks.map((_, track) => drawTrack(game, frame, track)), "tracks"));
      words.textContent = `${at} / ${last}: ${frame.words}`;
      slider.value = String(at);
      if (at === last) stop();
    };
    const toggle = () => {
      if (timer !== undefined) return stop();
      if (at === last) go(0);
      timer = setInterval(() => go(at + 1), STEP_MS);
    };
    /** @type {[string, string, () => void][]} */
    const buttons = [["◀", game.labels[0], () => go(at - 1)], ["▶▶", game.labels[2], toggle], ["▶", game.labels[1], () => go(at + 1)]];
    const made = buttons.map(([sign, label, act]) => {
      const button = html("button", [sign]);
      button.setAttribute("aria-label", label);
      button.title = label;
      button.addEventListener("click", act);
      return button;
    });
    slider.addEventListener("input", () => go(Number(slider.value)));
    document.addEventListener("keydown", ({ key, target }) => {
      if (target === slider) return;
      if (key === "ArrowLeft") go(at - 1);
      if (key === "ArrowRight") go(at + 1);
    });
    document.title = game.title;
    document.body.replaceChildren(words, place, html("div", [...made, slider], "controls"));
    go(first);
  };

  /** Return the text that was packed by deflate and base 64. @param {string} packed */
  const unpack = async (packed) => {
    const bytes = Uint8Array.from(atob(packed.replace(/-/g, "+").replace(/_/g, "/")), (each) => each.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
  };

  const written = readJson("game");
  const [packed, step] = location.hash.slice(1).split("/");
  if (written) start(written, Number(step ?? 0));
  else if (packed) unpack(packed).then((text) => start(JSON.parse(text), Number(step ?? 0)));
})();
