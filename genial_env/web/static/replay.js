// A recorded game: opened from a file or from a game played here, step by step, and reviewed.

import { Refusal, postForLines, postText, text } from "./api.js";
import { Board, framed } from "./board.js";
import { announce, fill, h } from "./dom.js";
import { signed } from "./game.js";
import { chart } from "./graph.js";
import { NAMES, tileInWords, tilePicture } from "./look.js";
import { eventWords, panels, pointsWords, rulesWords, tableClass } from "./panels.js";

const STEP_TIME = 1200; // milliseconds a step when it plays by itself
const MOST_IN_A_FILE = 5_000_000;
const LETTERS = "ABC";
const SIGNS = { best: "★", good: "✓", inaccuracy: "?!", mistake: "?", blunder: "??" };

export async function replayScreen(place, id) {
  const screen = h("div");
  const opener = new Opener((line) => open(line));
  let shown = null;

  async function open(line) {
    shown?.leave();
    shown = new Replay(line, await postText("/api/steps", line));
    fill(screen, shown.element);
  }

  const onKey = (event) => shown?.key(event);
  document.addEventListener("keydown", onKey);
  fill(place, opener.element, screen);
  document.title = "Review · Génial!";
  if (id) await open((await text(`/api/games/${id}/record`)).trim());
  return () => {
    document.removeEventListener("keydown", onKey);
    shown?.leave();
  };
}

/** Takes a file of records, by choosing or dropping it. */
class Opener {
  constructor(open) {
    this.open = open;
    this.input = h("input", { type: "file", accept: ".jsonl,.json,.txt", onchange: () => this.take(this.input.files[0]) });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.list = h("div");
    this.element = h(
      "section",
      {
        class: "card opener",
        "aria-label": "Open a record",
        ondragover: (event) => event.preventDefault(),
        ondrop: (event) => {
          event.preventDefault();
          this.take(event.dataTransfer.files[0]);
        },
      },
      h("label", {}, h("span", {}, "Open a game record (.jsonl): choose a file, or drop it here "), this.input),
      this.problem,
      this.list,
    );
  }

  async take(file) {
    if (!file) return;
    this.complain(null);
    fill(this.list);
    try {
      if (file.size > MOST_IN_A_FILE) throw new Refusal(413, "Expected a file of at most 5 MB, found a larger one.");
      const words = await file.text();
      await this.offer(words.split("\n"), await postText("/api/records", words));
    } catch (error) {
      this.complain(error);
    }
  }

  async offer(lines, { games, more }) {
    const faulty = games.filter((game) => game.fault);
    if (faulty.length) this.complain(new Refusal(422, `Line ${faulty[0].line}: ${faulty[0].fault}`));
    if (games.length === 1 && !faulty.length) return this.open(lines[games[0].line - 1]);
    const options = games.map((game) => h("option", { value: game.line, disabled: Boolean(game.fault) }, gameWords(game)));
    if (faulty.length === games.length) return undefined;
    const select = h("select", {}, options);
    const go = () => this.attempt(lines[Number(select.value) - 1]);
    select.value = games.find((game) => !game.fault).line;
    fill(
      this.list,
      h("label", {}, h("span", {}, `${games.length} games `), select),
      h("button", { type: "button", class: "main", onclick: go }, "Show this game"),
      more ? h("p", { class: "hint" }, `${more} further games are not listed.`) : null,
    );
    return undefined;
  }

  async attempt(line) {
    try {
      await this.open(line);
      this.complain(null);
    } catch (error) {
      this.complain(error);
    }
  }

  complain(error) {
    if (error && !(error instanceof Refusal)) throw error;
    this.problem.textContent = error?.message ?? "";
    this.problem.hidden = error === null;
  }
}

function gameWords(game) {
  if (game.fault) return `line ${game.line}: cannot be shown`;
  const lowest = game.scores.map((markers) => Math.min(...markers)).join(" : ");
  return `line ${game.line}: ${game.names.join(", ")} (lowest ${lowest}; ${game.end})`;
}

class Replay {
  constructor(line, game) {
    this.line = line;
    this.game = game;
    this.names = game.names;
    this.at = 0;
    this.chosen = null; // an alternative that is looked at
    this.review = null;
    this.timer = null;
    this.leaving = new AbortController();
    this.build();
    this.show();
  }

  get last() {
    return this.game.frames.length - 1;
  }

  build() {
    this.board = new Board(this.game.rules, { label: "Board of the recorded game" });
    this.words = h("p", { class: "status", role: "status" });
    this.slider = h("input", { type: "range", min: 0, max: this.last, value: 0, "aria-label": "Step", oninput: () => this.go(Number(this.slider.value)) });
    this.auto = h("button", { type: "button", onclick: () => this.toggleAuto() }, "Play");
    const button = (words, keys, to) => h("button", { type: "button", title: keys, onclick: () => this.go(to()) }, words);
    const steps = h(
      "div",
      { class: "buttons steps" },
      button("Start", "key Home", () => 0),
      button("Back", "left arrow key", () => this.at - 1),
      this.auto,
      button("On", "right arrow key", () => this.at + 1),
      button("End", "key End", () => this.last),
    );
    this.judged = h("div", { class: "judged" });
    this.side = h("div", { class: "panels" });
    this.report = h("section", { class: "card report", "aria-label": "Review" }, h("button", { type: "button", class: "main", onclick: () => this.startReview() }, "Review this game"));
    this.moves = h("ol", { class: "moves" });
    this.element = h(
      "div",
      { class: `${tableClass(this.game.rules)} replay` },
      h("div", { class: "middle" }, this.words, framed(this.board), steps, this.slider, this.judged),
      h("div", { class: "beside" }, this.side, this.report, h("details", { class: "card log", open: true }, h("summary", {}, "Decisions"), this.moves)),
    );
    this.listMoves();
  }

  // Steps

  go(to) {
    this.at = Math.max(0, Math.min(this.last, to));
    this.chosen = null;
    this.show();
  }

  toggleAuto() {
    if (this.timer !== null) return this.stop();
    if (this.at === this.last) this.go(0);
    this.auto.textContent = "Pause";
    this.timer = setInterval(() => {
      this.go(this.at + 1);
      if (this.at === this.last) this.stop();
    }, STEP_TIME);
    return undefined;
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.auto.textContent = "Play";
  }

  leave() {
    this.stop();
    this.leaving.abort();
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    const to = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: this.last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.go(to);
  }

  // What is shown: frame k is the position after k decisions

  /** The decision that led here, and the draws that followed it. */
  happened(at) {
    if (at === 0) return [];
    return this.game.events.slice(this.game.frames[at - 1].event, this.game.frames[at].event);
  }

  show() {
    const { rules, frames, end } = this.game;
    const before = this.chosen === null ? this.at : this.at - 1;
    const { position } = frames[before];
    const events = this.happened(this.at);
    this.board.show(position.board);
    this.board.draw(this.drawn(position, events));
    const sentences = events.map((event) => eventWords(event, this.names)).join(". ");
    const where = `${this.at} of ${this.last}`;
    this.words.textContent = this.at === 0 ? `The deal. ${this.names.join(", ")}; ${rulesWords(rules)}.` : `${where}: ${sentences}.`;
    this.slider.value = this.at;
    fill(this.side, panels(rules, this.names, position, { over: this.at === this.last && end !== "unfinished" }));
    this.showJudged();
    this.graph?.mark(this.at - 1);
    [...this.moves.children].forEach((item, index) => item.firstChild.toggleAttribute("data-now", index === this.at - 1));
  }

  drawn(position, events) {
    const alternatives = this.decision?.alternatives ?? [];
    const pills = alternatives
      .map((other, index) => ({ cells: other.cells, words: LETTERS[index], chosen: index === this.chosen }))
      .filter(({ cells }) => cells.length);
    if (this.chosen !== null && alternatives[this.chosen].cells.length) {
      const other = alternatives[this.chosen];
      const tile = this.tileOf(other, position);
      return { ghost: { cells: other.cells, tile, fixed: true }, lines: this.board.grid.lines(position.board, other.cells, tile) };
    }
    const placed = events.find((event) => event.kind === "place");
    if (!placed) return { pills };
    return { marks: placed.cells, lines: this.board.grid.lines(position.board, placed.cells, placed.tile), pills };
  }

  tileOf({ action }, position) {
    return position.racks[position.toPlay][Math.floor(action / this.game.rules.placements)];
  }

  listMoves() {
    const items = this.game.frames.slice(1).map((_, index) => {
      const words = eventWords(this.happened(index + 1)[0], this.names);
      const verdict = this.review?.decisions[index].verdict;
      return h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: verdict ? `move ${verdict}` : "move", onclick: () => this.go(index + 1) },
          verdict ? h("span", { class: "sign", title: verdict }, SIGNS[verdict]) : null,
          verdict && verdict !== "best" ? `${words} (${verdict})` : words,
        ),
      );
    });
    fill(this.moves, items);
  }

  // The review

  get decision() {
    return this.at > 0 ? (this.review?.decisions[this.at - 1] ?? null) : null;
  }

  async startReview() {
    const bar = h("progress", { max: 1, value: 0, "aria-label": "Review" });
    const words = h("p", { role: "status" }, "The game is being reviewed …");
    fill(this.report, words, bar);
    try {
      await postForLines("/api/review", this.line, this.leaving.signal, (told) => {
        if (told.error) throw new Refusal(422, told.error);
        if (told.review) return this.setReview(told.review);
        bar.max = told.of;
        bar.value = told.done;
        words.textContent = `Reviewed ${told.done} of ${told.of} decisions …`;
        return undefined;
      });
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Refusal)) throw error;
      fill(this.report, h("p", { class: "problem", role: "alert" }, error.message));
    }
  }

  setReview(review) {
    this.review = review;
    this.graph = chart(this.names, review, (index) => this.go(index + 1));
    const blunders = review.decisions.flatMap((each, index) => (["blunder", "mistake"].includes(each.verdict) ? [[each, index]] : []));
    fill(
      this.report,
      h("h2", {}, "Review"),
      h("p", { class: "hint" }, reviewWords(review)),
      h("ul", { class: "losses" }, this.names.map((name, seat) => h("li", {}, lossWords(name, review.mean_loss[seat])))),
      this.graph.element,
      h("h3", {}, "Blunders and mistakes"),
      blunders.length ? h("ul", { class: "blunders" }, blunders.map(([each, index]) => this.blunderItem(each, index))) : h("p", {}, "None."),
    );
    this.listMoves();
    this.show();
    announce("The review is done.");
  }

  blunderItem(each, index) {
    return h(
      "li",
      {},
      h("button", { type: "button", class: `move ${each.verdict}`, onclick: () => this.go(index + 1) },
        h("span", { class: "sign" }, SIGNS[each.verdict]),
        `${index + 1}. ${this.names[each.seat]}: ${each.verdict}, loss ${each.loss.toFixed(2)}`),
    );
  }

  /** Look at an alternative, or no longer. */
  choose(index) {
    this.chosen = this.chosen === index ? null : index;
    this.show();
    this.judged.querySelectorAll("button")[index].focus({ preventScroll: true });
  }

  /** An alternative as a button's content, and in words. */
  alternative({ words, cells, points, utility, ...other }) {
    const worth = `worth ${signed(utility)}`;
    if (!cells.length) return { shown: `${words}: ${worth}`, said: `${words}: ${worth}` };
    const tile = this.tileOf(other, this.game.frames[this.at - 1].position);
    const where = cells.map((cell) => this.board.grid.name(cell)).join(" ");
    return {
      shown: [tilePicture(tile, 10), h("span", {}, `${where}: ${pointsWords(points, NAMES)}; ${worth}`)],
      said: `${tileInWords(tile)} on ${where}: ${pointsWords(points)}; ${worth}`,
    };
  }

  /** What the judge says of the decision that led here. */
  showJudged() {
    const { decision } = this;
    if (decision === null) return fill(this.judged);
    const verdict = h(
      "p",
      {},
      h("span", { class: `sign ${decision.verdict}` }, SIGNS[decision.verdict]),
      ` ${decision.verdict}: worth ${signed(decision.utility)}, the best ${signed(decision.best)}, loss ${decision.loss.toFixed(2)}`,
    );
    const others = decision.alternatives.map((other, index) => {
      const { shown, said } = this.alternative(other);
      const pressed = String(this.chosen === index);
      const onclick = () => this.choose(index);
      const attributes = { type: "button", class: "alternative", "aria-pressed": pressed, "aria-label": `${LETTERS[index]}: ${said}`, onclick };
      return h("button", attributes, h("strong", {}, LETTERS[index]), shown);
    });
    return fill(this.judged, h("div", { class: "card" }, verdict, others.length ? h("p", { class: "hint" }, "Instead:") : null, others));
  }
}

function reviewWords({ judge, unit }) {
  const worth = unit === "lowest marker" ? "the expected lowest marker at the end" : "the expected rank, from −1 (last) to +1 (first)";
  return `The agent ${judge} judged every decision by what the seat could know then. Worth is ${worth}; loss is what a better decision would have added.`;
}

const lossWords = (name, loss) => `${name}: ${loss === null ? "no decisions" : `loses ${loss.toFixed(3)} a decision on average`}`;
