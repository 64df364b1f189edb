// A game being played: the person's tile, where it might go, what that scores; then what the agents do.

import { Refusal, get, post } from "./api.js";
import { Board, framed } from "./board.js";
import { announce, fill, h, wait } from "./dom.js";
import { inWords, tileInWords, tilePicture } from "./look.js";
import { eventWords, moved, panels, rulesWords, seatsOf, tableClass, trackName } from "./panels.js";

const BETWEEN_AGENTS = 900; // milliseconds in which to see a move before the next
const BETWEEN_TURNS = 100; // milliseconds: the wheels of some mice are quick
const WHEN_FULL = 1000; // before a server that has too much to do is asked again
const HELD_BACK = 10; // seconds for which the server may hold an answer back for an agent
const TICK = 1000; // between two looks at how long an agent has been thinking
const WORTH_SAYING = 3; // seconds of thinking
const BOARD_LABEL = "Board. Arrow keys go from cell to cell, R turns the tile, Enter lays it, Escape takes it back.";

export async function gameScreen(place, id) {
  const screen = new GameScreen(place, await get(`/api/games/${id}`));
  const onKey = (event) => screen.key(event);
  document.addEventListener("keydown", onKey);
  screen.show();
  screen.letAgentsPlay();
  return () => {
    screen.leave();
    document.removeEventListener("keydown", onKey);
  };
}

/** Ask, and ask again where the server has too much to do. */
async function whenFree(ask) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 503) throw error;
      await wait(WHEN_FULL);
    }
  }
}

class GameScreen {
  constructor(place, game) {
    this.leaving = new AbortController();
    this.busy = false;
    this.stuck = false; // an agent's decision did not come
    this.turned = 0; // when the wheel turned the tile last
    this.hand = new Hand();
    this.board = new Board(game.rules, {
      label: BOARD_LABEL,
      taken: (cell) => this.take(cell),
      pointed: (cell) => this.point(cell),
    });
    this.board.element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.board.element.addEventListener("focus", () => this.showHand());
    this.board.element.addEventListener("blur", () => this.board.pointAt(null));
    this.words = h("span", { role: "status" });
    this.sinceWords = h("span", { class: "since" }); // apart, so that it is not read out every second
    this.status = h("div", { class: "status" }, this.words, this.sinceWords);
    this.clock = setInterval(() => this.showSince(), TICK);
    this.preview = h("p", { class: "preview" });
    this.controls = h("div", { class: "controls" });
    this.side = h("div", { class: "panels" });
    this.log = h("ol", { class: "moves" });
    this.below = h("div");
    fill(
      place,
      h(
        "div",
        { class: tableClass(game.rules) },
        h("div", { class: "middle" }, this.status, framed(this.board), this.preview, this.controls, this.below),
        h("div", { class: "beside" }, this.side, h("details", { class: "log card" }, h("summary", {}, "Moves so far"), this.log)),
      ),
    );
    this.set(game);
    this.since = Math.max(0, game.moves.length - 1); // moves from there on are marked on the board
  }

  get left() {
    return this.leaving.signal.aborted;
  }

  leave() {
    clearInterval(this.clock);
    this.leaving.abort();
  }

  set(game) {
    this.game = game;
    this.thinking(game);
    this.names = game.names;
    const { choice } = game;
    this.hand.reset();
    this.hand.pairs = new Set((choice?.pairs ?? []).flatMap(([a, b]) => [`${a},${b}`, `${b},${a}`]));
    if (choice && this.tiles().filter(Boolean).length === 1) this.hand.slot = this.tiles().findIndex(Boolean);
  }

  /** Note how long the agent has been thinking, by the server's clock. */
  thinking({ thinking, turn }) {
    const before = this.thought?.turn === turn ? this.thought : null;
    if (thinking) this.thought = { turn, from: Date.now() - 1000 * thinking.seconds, waits: thinking.waits };
    else this.thought = before ?? { turn, from: Date.now(), waits: false };
  }

  // What is known

  get choosing() {
    return Boolean(this.game.choice) && !this.busy;
  }

  get placing() {
    return this.choosing && this.game.choice.pairs.length > 0;
  }

  /** Whether the person to play is to look at the page first, others looking away. */
  get curtain() {
    return this.game.waits && this.game.seat !== this.game.position.toPlay;
  }

  tiles() {
    const { seat, position } = this.game;
    return seat === null ? [] : position.racks[seat];
  }

  /** The tile in hand where it would lie: its cells, points by letter and lines; null for nowhere. */
  placement() {
    const { slot } = this.hand;
    if (!this.placing || slot === null || this.hand.anchor === null) return null;
    const tile = this.tiles()[slot];
    const { cells, fits } = this.hand.cells(this.board.grid);
    if (!fits) return { tile, cells, fits };
    const letters = [...this.game.rules.colors];
    const halves = cells.map((cell, side) => this.game.choice.points[cell][letters.indexOf(tile[side])]);
    const points = {};
    halves.forEach((count, side) => {
      if (count) points[tile[side]] = (points[tile[side]] ?? 0) + count;
    });
    return { tile, cells, fits, halves, points, lines: this.board.grid.lines(this.game.position.board, cells, tile) };
  }

  // Showing

  show() {
    const { position, choice } = this.game;
    const first = choice && !this.laidBefore() ? new Set(choice.pairs.flat()) : null;
    this.board.show(position.board, first);
    this.showHand();
    this.showControls();
    this.showStatus();
    fill(this.log, this.game.moves.map((event) => h("li", {}, eventWords(event, this.names))));
    fill(this.below, this.game.end ? ending(this.game, this.names) : null);
    document.title = this.game.waits ? "Your turn · Génial!" : "Génial!";
  }

  laidBefore() {
    return this.game.moves.some((event) => event.kind === "place" && event.seat === this.game.position.toPlay);
  }

  showHand() {
    const placement = this.placement();
    const fresh = this.game.moves.slice(this.since).filter((event) => event.kind === "place");
    const lastLines = fresh.length ? this.board.grid.lines(this.game.position.board, fresh.at(-1).cells, fresh.at(-1).tile) : [];
    this.board.draw({
      marks: fresh.flatMap((event) => event.cells),
      lines: placement?.fits ? placement.lines : this.hand.anchor === null ? lastLines : [],
      ghost: placement && { ...placement, wrong: !placement.fits, fixed: this.hand.fixed },
    });
    this.board.pointAt(document.activeElement === this.board.element ? this.hand.anchor : null);
    this.preview.textContent = placement ? this.placementWords(placement) : this.lastWords(fresh);
    const preview = placement?.fits ? placement.points : null;
    fill(
      this.side,
      panels(this.game.rules, this.names, this.game.position, { over: Boolean(this.game.end), preview }),
      h("p", { class: "hint" }, this.aboutWords()),
    );
  }

  aboutWords() {
    const words = [rulesWords(this.game.rules), `${this.game.position.bag} tiles in the bag`];
    if (!this.game.judge) words.push("no hints: there is no judge for this game");
    return words.join(" · ");
  }

  lastWords(fresh) {
    return fresh.length ? `${eventWords(fresh.at(-1), this.names)}.` : "";
  }

  placementWords({ fits, tile, cells, halves, points }) {
    if (!fits) return this.noRoomWords();
    const of = (side) => `${inWords(tile[side])} ${halves[side]}`;
    const where = cells.map((cell) => this.board.grid.name(cell)).join(" ");
    const total = halves[0] + halves[1];
    const sum = total === 1 ? "1 point" : `${total} points`;
    return `${where}: ${of(0)}, ${of(1)} – ${[sum, ...this.markersWords(points)].join("; ")}.`;
  }

  noRoomWords() {
    return this.laidBefore()
      ? "The tile does not fit here."
      : "Your first tile must lie next to a printed symbol that has no tile beside it yet.";
  }

  /** What the points do to the markers. */
  markersWords(points) {
    const { rules, position } = this.game;
    const scores = position.scores[position.toPlay % rules.tracks];
    return Object.entries(points).map(([letter, count]) => {
      const before = scores[rules.colors.indexOf(letter)];
      const after = moved(rules, before, count);
      const bonus = rules.bonus && after !== before && rules.stops.includes(after) ? " – a bonus turn!" : "";
      return `${inWords(letter)} ${before} → ${after}${bonus}`;
    });
  }

  showStatus() {
    const words = this.statusWords();
    const bonus = this.game.waits && this.game.position.phase === "bonus";
    this.status.classList.toggle("bonus", bonus);
    this.status.classList.toggle("thinking", !this.game.waits && !this.game.end);
    if (this.words.textContent !== words) this.words.textContent = words;
    this.showSince();
  }

  /** How long the agent has been thinking, where it is long. */
  showSince() {
    const thinks = !this.game.waits && !this.game.end && !this.stuck;
    const seconds = thinks ? Math.floor((Date.now() - this.thought.from) / 1000) : 0;
    const queued = this.thought.waits ? " (waiting: the server has much to do)" : "";
    this.sinceWords.textContent = seconds < WORTH_SAYING ? "" : ` ${durationWords(seconds)}${queued}`;
  }

  statusWords() {
    const { position, end, waits } = this.game;
    const name = this.names[position.toPlay];
    if (end) return "The game is over.";
    if (!waits) return `${name} is thinking …`;
    const whose = name === "You" ? "Your turn" : `${name}’s turn`;
    if (position.phase === "swap") return `${whose}: none of the lowest colors is on the rack. Swap all tiles, or keep them?`;
    if (position.phase === "bonus") {
      const more = position.pending_bonus > 1 ? ` (${position.pending_bonus} bonus turns)` : "";
      return `Bonus turn${name === "You" ? "" : ` for ${name}`}! Lay another tile${more}.`;
    }
    return `${whose}: choose a tile and lay it.`;
  }

  /** The rack and the buttons; the keyboard stays where it is, or goes to the board. */
  showControls() {
    const focused = document.activeElement.closest(".controls") ? document.activeElement.dataset.act : null;
    fill(this.controls, this.controlsNow());
    if (focused === null) return;
    const again = this.controls.querySelector(`[data-act="${focused}"]:not(:disabled)`);
    (again ?? this.board.element).focus({ preventScroll: true });
  }

  controlsNow() {
    if (this.game.end) return [];
    if (this.stuck) return [h("button", { type: "button", class: "main", onclick: () => this.letAgentsPlay() }, "Try again")];
    if (this.curtain) return [this.curtainCard()];
    return this.game.seat === null ? [] : [this.rack(), this.buttons()];
  }

  curtainCard() {
    const name = this.names[this.game.position.toPlay];
    return h(
      "div",
      { class: "card curtain" },
      h("p", {}, h("strong", {}, `Hand over to ${name}.`), " All racks are hidden."),
      h("button", { class: "main", type: "button", "data-act": "open", onclick: () => this.openCurtain() }, `I am ${name}: show my tiles`),
    );
  }

  async openCurtain() {
    await this.attempt(async () => {
      this.set(await get(`/api/games/${this.game.id}?seat=${this.game.position.toPlay}`));
    });
    this.controls.querySelector("button")?.focus();
  }

  rack() {
    const tiles = this.tiles().map((tile, slot) => {
      if (!tile) return h("span", { class: "slot empty", "aria-hidden": true });
      const chosen = slot === this.hand.slot;
      return h(
        "button",
        {
          type: "button",
          class: "slot",
          "data-act": `tile-${slot}`,
          "aria-pressed": String(chosen),
          "aria-label": `Tile ${slot + 1}: ${tileInWords(tile)}`,
          disabled: !this.placing,
          onclick: () => this.pick(slot),
        },
        tilePicture(tile, 18),
        h("kbd", { "aria-hidden": true }, String(slot + 1)),
      );
    });
    return h("div", { class: "my-rack", role: "group", "aria-label": "Your rack" }, tiles);
  }

  buttons() {
    const { choice, position, judge } = this.game;
    const button = (words, act, { main = false, disabled = false, key = null } = {}) =>
      h(
        "button",
        { type: "button", class: main ? "main" : null, "data-act": words, disabled, onclick: act },
        words,
        key ? h("kbd", { "aria-hidden": true }, key) : null,
      );
    if (choice?.swap) {
      return h(
        "div",
        { class: "buttons" },
        button("Swap all tiles", () => this.play({ word: "swap" }), { main: true, disabled: this.busy }),
        button("Keep them", () => this.play({ word: "decline" }), { disabled: this.busy }),
        judge ? button("Hint", () => this.hint(), { disabled: this.busy, key: "H" }) : null,
      );
    }
    const held = this.placing && this.hand.slot !== null;
    return h(
      "div",
      { class: "buttons" },
      button("Lay it", () => this.confirm(), { main: true, disabled: !(this.placing && this.hand.fixed), key: "Enter" }),
      button("Take back", () => this.undo(), { disabled: !held, key: "Esc" }),
      button("Rotate", () => this.rotate(1), { disabled: !held, key: "R" }),
      choice?.decline && position.phase === "bonus"
        ? button("Decline the bonus", () => this.play({ word: "decline" }), { disabled: this.busy })
        : null,
      judge ? button("Hint", () => this.hint(), { disabled: !this.placing, key: "H" }) : null,
    );
  }

  // The tile in hand

  pick(slot) {
    if (!this.placing || !this.tiles()[slot]) return;
    this.hand.slot = slot;
    this.refresh();
    announce(`${tileInWords(this.tiles()[slot])} in hand.`);
    this.board.element.focus({ preventScroll: true });
  }

  /** The mouse is over a cell; null for none. */
  point(cell) {
    if (this.hand.fixed) return;
    this.hand.anchor = cell;
    this.showHand();
  }

  /** A cell is clicked or tapped: the tile goes there; once more, and it turns. */
  take(cell) {
    if (!this.placing) return;
    if (this.hand.slot === null) return this.say("Choose a tile of your rack first.");
    const lies = this.hand.fixed && this.hand.cells(this.board.grid).cells.includes(cell);
    if (lies) return this.rotate(1);
    this.hand.fixed = false;
    this.hand.anchor = cell;
    const { fits } = this.placement();
    this.hand.fixed = fits;
    this.refresh();
    this.say(fits ? this.preview.textContent : this.noRoomWords());
  }

  rotate(by) {
    if (!this.placing || this.hand.slot === null) return;
    this.hand.rotate(by, this.board.grid);
    this.refresh();
    if (this.hand.anchor !== null) announce(this.preview.textContent);
  }

  undo() {
    if (this.hand.fixed) this.hand.fixed = false;
    else this.hand.slot = null;
    this.refresh();
    announce("Taken back.");
  }

  refresh() {
    this.showHand();
    this.showControls();
  }

  say(words) {
    this.preview.textContent = words;
    announce(words);
  }

  confirm() {
    const placement = this.placement();
    if (!this.hand.fixed || !placement?.fits) return undefined;
    return this.play({ slot: this.hand.slot, cells: placement.cells });
  }

  // Keys and the wheel

  wheel(event) {
    if (!this.placing || this.hand.slot === null) return;
    event.preventDefault();
    if (event.timeStamp - this.turned < BETWEEN_TURNS) return;
    this.turned = event.timeStamp;
    this.rotate(event.deltaY > 0 ? 1 : -1);
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    const act = this.keyAct(event);
    if (act === null) return;
    event.preventDefault();
    act();
  }

  keyAct(event) {
    const { key } = event;
    const onControl = event.target.closest("button, a, summary");
    if (key.startsWith("Arrow") && event.target === this.board.element) return () => this.move(key);
    if (!this.choosing) return null;
    if (/^[1-6]$/.test(key)) return () => this.pick(Number(key) - 1);
    if (key === "r") return () => this.rotate(1);
    if (key === "R") return () => this.rotate(-1);
    if (key === "Escape") return () => this.undo();
    if (key.toLowerCase() === "h" && this.game.judge) return () => this.hint();
    if (key === "Enter" && !onControl) return () => (this.hand.fixed ? this.confirm() : this.take(this.hand.anchor ?? this.middle()));
    return null;
  }

  middle() {
    return (this.board.groups.length - 1) / 2;
  }

  /** The keyboard goes to the next cell, with the tile in hand. */
  move(key) {
    const from = this.hand.anchor ?? this.middle();
    this.hand.fixed = false;
    this.hand.anchor = this.hand.anchor === null ? from : this.board.grid.step(from, key);
    this.refresh();
    const placement = this.placement();
    const cell = `${this.board.grid.name(this.hand.anchor)}, ${this.board.words(this.hand.anchor)}`;
    announce(placement ? `${cell}. ${this.placementWords(placement)}` : cell);
  }

  // What the server does

  async play(wanted) {
    const before = this.game;
    await this.attempt(async () => {
      const game = await post(`/api/games/${before.id}/play`, { turn: before.turn, seat: before.seat, ...wanted });
      this.since = before.moves.length;
      this.set(game);
    });
    await this.letAgentsPlay();
  }

  /** The agents' decisions, one after the other, each to be seen. */
  async letAgentsPlay() {
    this.stuck = false;
    if (!this.game.waits && !this.game.end) this.since = this.game.moves.length;
    while (!this.left && !this.game.waits && !this.game.end) {
      const { id, turn, seat, moves } = this.game;
      const went = await this.attempt(async () => {
        const game = await this.decided(() => post(`/api/games/${id}/advance`, { turn, seat, wait: HELD_BACK }, this.leaving.signal));
        if (this.left) return;
        this.set(game);
        game.moves.slice(moves.length).forEach((event) => announce(eventWords(event, this.names)));
      });
      if (!went) return this.giveUp();
      if (!this.game.waits && !this.game.end) await wait(BETWEEN_AGENTS);
    }
    return undefined;
  }

  /** Ask for what an agent thinks about until it is there. */
  async decided(ask) {
    for (;;) {
      const found = await whenFree(ask);
      if (this.left || !found.thinking) return found;
      this.thinking({ thinking: found.thinking, turn: this.game.turn });
      this.showSince();
    }
  }

  giveUp() {
    this.stuck = !this.left;
    this.showControls();
  }

  async hint() {
    if (!this.choosing) return;
    let words = null;
    await this.attempt(async () => {
      const found = await this.decided(() => get(`/api/games/${this.game.id}/hint?seat=${this.game.seat}&wait=${HELD_BACK}`));
      if (found.cells) this.hand.put(found.slot, found.cells, this.board.grid);
      words = hintWords(found, this.game.position.phase);
    });
    if (words !== null) this.say([words, this.preview.textContent].filter(Boolean).join(" "));
  }

  /** Do something with the server while nothing else can be done; show how things stand after it. */
  async attempt(act) {
    if (this.busy) return false;
    this.busy = true;
    this.showControls();
    let trouble = null;
    try {
      await act();
    } catch (error) {
      if (error.name === "AbortError") return false;
      if (!(error instanceof Refusal)) throw error;
      trouble = error;
      if (error.status === 409) this.set(await get(`/api/games/${this.game.id}`));
    } finally {
      this.busy = false;
    }
    if (this.left) return false;
    this.show();
    if (trouble) this.say(trouble.message);
    return trouble === null || trouble.status === 409;
  }
}

/** The tile that a person holds: from which slot, over which cell, turned how, and whether it has been put down. */
class Hand {
  constructor() {
    this.direction = 0;
    this.pairs = new Set();
    this.reset();
  }

  reset() {
    this.slot = null;
    this.anchor = null;
    this.fixed = false;
  }

  ways(grid) {
    return [0, 1, 2, 3, 4, 5].map((turn) => (this.direction + turn) % 6).filter((d) => this.pairs.has(`${this.anchor},${grid.beside(this.anchor, d)}`));
  }

  /** Where the halves lie: as it is turned or, where that does not fit, as it fits next. */
  cells(grid) {
    const ways = this.ways(grid);
    const beside = grid.beside(this.anchor, ways[0] ?? this.direction);
    return { fits: ways.length > 0, cells: beside === undefined ? [this.anchor] : [this.anchor, beside] };
  }

  rotate(by, grid) {
    if (this.anchor === null) {
      this.direction = (this.direction + by + 6) % 6;
      return;
    }
    const ways = this.ways(grid);
    if (ways.length) this.direction = by > 0 ? (ways[1] ?? ways[0]) : ways.at(-1);
  }

  put(slot, cells, grid) {
    this.slot = slot;
    [this.anchor] = cells;
    this.direction = grid.direction(cells[0], cells[1]);
    this.fixed = true;
  }
}

const durationWords = (seconds) => (seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`);

function hintWords({ word, utility, win }, phase) {
  const worth =
    win === null
      ? `a lowest marker of ${utility.toFixed(1)} at the end`
      : `a ${Math.round(100 * win)}% chance of the first place (expected rank ${signed(utility)}, from −1 last to +1 first)`;
  const what = { swap: "swap all tiles", decline: phase === "swap" ? "keep the tiles" : "decline the bonus" }[word] ?? "lay this tile";
  return `Hint: ${what} – ${worth}.`;
}

export const signed = (number) => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(2)}`;

/** How a game ended: places, markers, why. */
function ending(game, names) {
  const { rules, end } = game;
  const tracks = Array.from({ length: rules.tracks }, (_, track) => track).sort((a, b) => end.ranks[a] - end.ranks[b]);
  const rows = tracks.map((track) =>
    h(
      "tr",
      {},
      rules.tracks > 1 ? h("td", {}, `${end.ranks[track]}.`) : null,
      h("th", { scope: "row" }, trackName(rules, names, track)),
      h("td", { class: "sorted" }, [...end.scores[track]].sort((a, b) => a - b).join(" ")),
    ),
  );
  return h(
    "section",
    { class: "card ending", "aria-label": "Result" },
    h("h2", {}, headline(game, names)),
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, rules.tracks > 1 ? h("th", { scope: "col" }, "Place") : null, h("th", { scope: "col" }, "Who"), h("th", { scope: "col" }, "Markers, lowest first"))),
      h("tbody", {}, rows),
    ),
    end.why.map((words) => h("p", {}, `${words[0].toUpperCase()}${words.slice(1)}.`)),
    h("p", { class: "hint" }, `Ended: ${end.how}. Seed ${end.seed}.`),
    h(
      "div",
      { class: "buttons" },
      h("a", { class: "button main", href: `#/replay/${game.id}` }, "Review this game"),
      h("a", { class: "button", href: `/api/games/${game.id}/record`, download: "" }, "Download the record"),
      h("a", { class: "button", href: "#/" }, "New game"),
    ),
  );
}

function headline({ rules, end }, names) {
  if (rules.tracks === 1) return `Your lowest marker: ${Math.min(...end.scores[0])}`;
  const winners = end.ranks.flatMap((rank, track) => (rank === 1 ? [track] : []));
  const words = winners.map((track) => trackName(rules, names, track)).join(" and ");
  if (winners.length > 1) return `${words} share the first place`;
  const many = seatsOf(rules, winners[0]).length > 1 || words === "You";
  return `${words} ${many ? "win" : "wins"}!`;
}
