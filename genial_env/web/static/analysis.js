// The analysis board: any position, moves that are tried and taken back, branches, and the judge's best moves.

import { Refusal, post } from "./api.js";
import { announce, fill, html, isForeignKey } from "./dom.js";
import { JudgePanel, tileOf } from "./judge_panel.js";
import { createPanels, createTable } from "./panels.js";
import { PlayOn } from "./play_on.js";
import { PositionEditor } from "./position_editor.js";
import { describeEvents } from "./sentences.js";
import { copy, createShare, positionAddress } from "./share.js";
import { StudyBoard } from "./study_board.js";
import { Variations, forget, listSaved, readVariations, save } from "./variations.js";
import { texts } from "./texts.js";

/** @import { Choices, JudgedMove, Move, Shown } from "./api_types.js" */

const USUAL_RULES = { players: 2, edition: "2025", mode: "individual" };

/**
 * @param {HTMLElement} place
 * @param {string} text of a position, with underscores for spaces; "" for a new game
 * @param {Choices} choices
 */
export async function openAnalysis(place, text, choices) {
  document.title = texts.analysisTitle;
  const kept = readVariations(history.state?.tree);
  const tree = kept && kept.current.text === text.replaceAll("_", " ") ? kept : null;
  /** @type {Shown} */
  const shown = text
    ? await post("/api/analysis/position", { position: text })
    : await post("/api/analysis/new", { rules: USUAL_RULES });
  if (!place.isConnected) return undefined;
  const screen = new Analysis(place, shown, tree ?? new Variations(shown.text), choices);
  const onKey = (/** @type {KeyboardEvent} */ event) => screen.onKey(event);
  document.addEventListener("keydown", onKey);
  return () => {
    screen.leave();
    document.removeEventListener("keydown", onKey);
  };
}

class Analysis {
  /**
   * @param {HTMLElement} place
   * @param {Shown} shown
   * @param {Variations} tree
   * @param {Choices} choices
   */
  constructor(place, shown, tree, choices) {
    this.place = place;
    this.choices = choices;
    this.tree = tree;
    this.shown = shown;
    this.asked = 0; // the number of the last request; older answers do not count
    /** @type {PositionEditor | null} */
    this.editor = null;
    /** @type {{seat: number, agent: string} | null} the person's seat in a game against an agent */
    this.playing = null;
    this.judge = new JudgePanel({ onPick: (move) => this.preview(move), onPlay: (move) => this.play(toMove(move)) });
    this.status = html("p", { class: "status", role: "status" });
    this.side = html("div", { class: "panels" });
    this.moves = html("section", { class: "card", "aria-label": texts.variations });
    this.tools = html("section", { class: "card", "aria-label": texts.position });
    this.act = html("div");
    /** @type {HTMLElement[]} what is below the board, unless the position is edited */
    this.acts = [];
    this.saved = html("details", { class: "card saved" });
    this.against = new PlayOn((agent) => this.playOn(agent), () => this.stopPlaying());
    this.sharing = html("div");
    this.input = html("input", { class: "position-text", "aria-label": texts.positionText, autocomplete: "off", spellcheck: "false" });
    this.problem = html("p", { class: "problem", role: "alert", hidden: true });
    this.board = this.layOut(shown);
    this.show();
  }

  /**
   * Lay the screen out for the rules of a position.
   * @param {Shown} shown
   */
  layOut(shown) {
    const board = new StudyBoard(shown, { onMove: (move) => this.play(move), onCell: (cell) => this.onCell(cell) });
    this.acts = [board.preview, board.controls, this.createSteps()];
    const table = createTable(shown.rules, {
      title: texts.analysisTitle,
      status: this.status,
      board: board.frame,
      controls: this.act,
      beside: [this.judge.element, this.moves, this.against.element, this.tools, this.side, this.sharing, this.saved],
    });
    table.classList.add("analysis");
    fill(this.place, table);
    return board;
  }

  createSteps() {
    /** @type {(words: string[], onclick: () => void) => HTMLElement} */
    const button = ([words, key], onclick) => html("button", { type: "button", title: key, onclick }, words);
    const { start, back, next } = texts.steps;
    return html(
      "div",
      { class: "buttons steps" },
      button(start, () => this.go(0)),
      button(back, () => this.step(() => this.tree.back())),
      button(next, () => this.step(() => this.tree.next())),
      html("button", { type: "button", onclick: () => this.step(() => this.tree.remove()) }, texts.removeMove),
    );
  }

  leave() {
    this.asked += 1;
    this.judge.stop();
  }

  // Requests

  /**
   * Ask the server for a position, and do something with it.
   * @param {string} path
   * @param {object} data
   * @param {(shown: Shown) => void} act
   */
  async ask(path, data, act) {
    const number = ++this.asked;
    this.judge.stop();
    this.problem.hidden = true;
    try {
      const shown = await post(`/api/analysis/${path}`, data);
      if (number === this.asked) act(shown);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (number !== this.asked) return;
      if (this.editor) this.editor.showProblem(error.message);
      else {
        this.problem.textContent = error.message;
        this.problem.hidden = false;
      }
      announce(error.message);
    }
  }

  /** @param {Move} move */
  async play(move) {
    const { text } = this.shown;
    if (this.tree.enter(move)) {
      await this.load();
      return;
    }
    await this.ask("move", { position: text, ...move }, (shown) => this.follow(move, shown));
  }

  /**
   * Go to the position after a move.
   * @param {Move} move
   * @param {Shown} shown
   */
  follow(move, shown) {
    const { rules, names, position, events = [] } = shown;
    const told = describeEvents(rules, names, this.board.board.grid, events, this.shown.position.scores);
    const isHidden = this.playing !== null && events[0]?.seat !== this.playing.seat;
    const words = told.map((each) => each.words).slice(0, isHidden ? 1 : undefined); // not what the agent draws
    this.tree.add(move, shown.text, words.join("; "));
    announce(told[0]?.words ?? "");
    this.setShown(shown);
    if (position.phase === "over") announce(texts.gameOver);
  }

  // A game against an agent

  /**
   * Play on from here against an agent; its rack is hidden.
   * @param {string} agent
   */
  async playOn(agent) {
    const { position, text } = this.shown;
    this.playing = { seat: position.to_play, agent };
    if (position.racks.some((rack) => typeof rack === "number")) await this.deal();
    else this.show();
    if (this.shown.text !== text) announce(texts.racksDealt);
  }

  stopPlaying() {
    this.playing = null;
    this.show();
  }

  /** Whether the agent is to play. */
  get agentPlays() {
    const { position } = this.shown;
    return this.playing !== null && position.phase !== "over" && position.to_play !== this.playing.seat;
  }

  /** Have the agent decide. */
  askAgent() {
    const { text } = this.shown;
    return this.ask("agent", { position: text, agent: this.playing?.agent }, (shown) => {
      if (shown.move) this.follow(toMove(shown.move), shown);
    });
  }

  /** Load the position of the tree. */
  load() {
    return this.ask("position", { position: this.tree.current.text }, (shown) => this.setShown(shown));
  }

  /**
   * Begin anew at a position.
   * @param {string} path
   * @param {object} data
   */
  begin(path, data) {
    return this.ask(path, data, (shown) => {
      this.tree = new Variations(shown.text);
      this.editor = null;
      this.playing = null;
      this.setShown(shown);
    });
  }

  /**
   * Go through the tree; in a game against an agent to the next decision of the person.
   * @param {() => void} act on the tree
   */
  step(act) {
    if (this.editor) return;
    let before;
    do {
      before = this.tree.at;
      act();
    } while (this.playing && this.tree.at !== before && seatToPlay(this.tree.current.text) !== this.playing.seat);
    this.load();
  }

  /** @param {number} at */
  go(at) {
    this.step(() => (this.tree.at = at));
  }

  // Showing

  /** @param {Shown} shown */
  setShown(shown) {
    const isSameBoard = shown.rules.side === this.shown.rules.side && shown.rules.colors === this.shown.rules.colors;
    const isSameRules = isSameBoard && shown.rules.players === this.shown.rules.players;
    this.shown = shown;
    if (!isSameRules) this.board = this.layOut(shown);
    this.show();
  }

  show() {
    const { rules, names, position, text } = this.shown;
    const { cells } = this.tree.current;
    const { agentPlays } = this;
    this.board.show(agentPlays ? this.hidden : this.shown, {
      drawing: { marks: cells },
      locked: this.editor !== null || agentPlays,
    });
    this.against.show(rules, this.playing && names[this.playing.seat]);
    this.status.textContent = this.describe();
    fill(this.side, createPanels(rules, names, this.hidden.position, { over: position.phase === "over" }), html("p", { class: "hint" }, `${texts.rules(rules.named)} · ${texts.bag(position.bag)}`));
    fill(this.moves, html("h2", {}, texts.variations), this.tree.createList((at) => this.go(at)));
    this.moves.querySelector("[data-now]")?.scrollIntoView({ block: "nearest" });
    this.input.value = text;
    fill(this.act, this.editor ? this.editor.palette : this.acts);
    fill(this.tools, this.editor ? this.editor.element : this.createTools());
    this.showSaved();
    const link = async () => `${location.origin}/${positionAddress(this.shown.text)}`;
    fill(this.sharing, createShare({ line: null, step: () => 0, text: () => this.shown.text, link, embed: () => null }));
    this.judge.element.hidden = this.playing !== null;
    if (!this.editor && !this.playing) this.judge.judge(this.shown, this.board.board.grid);
    if (agentPlays) this.askAgent();
    history.replaceState({ tree: this.tree.toJson() }, "", positionAddress(text));
  }

  /** What is shown: in a game against an agent the other racks are hidden. */
  get hidden() {
    const { position } = this.shown;
    const { playing } = this;
    if (playing === null || position.phase === "over") return this.shown;
    const racks = position.racks.map((rack, seat) =>
      seat === playing.seat || typeof rack === "number" ? rack : rack.filter(Boolean).length,
    );
    return { ...this.shown, position: { ...position, racks } };
  }

  describe() {
    const { position, names, choice } = this.shown;
    const name = names[position.to_play];
    if (this.agentPlays) return texts.thinking(this.playing?.agent ?? "");
    if (this.editor) return texts.editing;
    if (position.phase === "over") return texts.gameOver;
    if (!choice) return texts.hiddenRack(name);
    if (position.phase === "swap") return texts.turnToSwap(name);
    if (position.phase === "bonus") return texts.turnToPlaceBonus(name, position.pending_bonus, []);
    return texts.turnToPlace(name);
  }

  /** @param {JudgedMove | null} move */
  preview(move) {
    const { board } = this;
    const tile = move ? tileOf(this.shown, move) : "";
    board.hand.reset(this.shown.choice?.pairs ?? []);
    if (move?.cells && move.slot !== undefined && tile) board.put(move.slot, move.cells);
    else board.draw({ marks: this.tree.current.cells });
  }

  createTools() {
    const { choice, position } = this.shown;
    const status = html("span", { class: "hint", role: "status" });
    /** @type {(words: string, onclick: () => unknown) => HTMLElement} */
    const button = (words, onclick) => html("button", { type: "button", onclick }, words);
    const paste = (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      this.begin("position", { position: this.input.value });
    };
    const isHidden = position.racks.some((rack) => typeof rack === "number");
    return [
      html("h2", {}, texts.position),
      html("form", { onsubmit: paste }, html("label", {}, texts.positionText, this.input), html("div", { class: "buttons" }, html("button", {}, texts.usePosition), button(texts.copyPosition, () => copy(this.shown.text, status)))),
      this.problem,
      status,
      html(
        "div",
        { class: "buttons" },
        isHidden ? html("button", { type: "button", class: choice ? null : "main", onclick: () => this.deal() }, texts.dealRacks) : null,
        button(texts.editPosition, () => this.edit()),
        button(texts.newDeal, () => this.begin("new", { rules: this.shown.rules.named })),
        button(texts.saveAnalysis, () => this.keep(status)),
      ),
    ];
  }

  /** Show tiles in the hidden racks, as a move of its own. */
  deal() {
    const { text } = this.shown;
    return this.ask("deal", { position: text }, (shown) => {
      this.tree.nodes.push({ text: shown.text, words: texts.racksDealt, cells: this.tree.current.cells, key: shown.text, parent: this.tree.at });
      this.tree.at = this.tree.nodes.length - 1;
      this.setShown(shown);
    });
  }

  // Editing

  edit() {
    const { players, mode } = this.shown.rules;
    const fitting = this.choices.combinations.filter((each) => each.mode === mode && each.players.includes(players));
    const { board } = this;
    this.editor = new PositionEditor(this.shown, board.board.grid, fitting.map(({ edition }) => edition), {
      onChange: (letters) => board.board.show(letters),
      onDone: (text) => this.begin("position", { position: text }),
      onCancel: () => {
        this.editor = null;
        this.show();
      },
    });
    this.judge.stop();
    this.show();
    this.tools.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} cell */
  onCell(cell) {
    this.editor?.paint(cell);
    return this.editor !== null;
  }

  // Saved analyses

  /** @param {HTMLElement} status */
  keep(status) {
    const { names, position } = this.shown;
    const best = position.scores.map((scores) => Math.min(...scores)).join(" : ");
    const title = texts.analysisName(texts.date(new Date()), names.length, best);
    status.textContent = save(title, this.tree) ? texts.saved : texts.notSaved;
    this.showSaved();
  }

  showSaved() {
    const items = listSaved().map(({ title, tree }) => {
      const open = () => {
        const found = readVariations(tree);
        if (found === null) return;
        this.tree = found;
        this.editor = null;
        this.load();
      };
      const remove = () => {
        forget(title);
        this.showSaved();
      };
      const button = html("button", { type: "button", class: "move", onclick: open }, title);
      return html("li", {}, button, html("button", { type: "button", class: "quiet", "aria-label": texts.labelled(texts.remove, title), onclick: remove }, texts.remove));
    });
    const list = items.length ? html("ul", { class: "games" }, items) : html("p", { class: "hint" }, texts.nothingSaved);
    fill(this.saved, html("summary", {}, texts.savedAnalyses), list);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (isForeignKey(event) || this.editor) return;
    if (this.board.onKey(event)) return;
    if (event.target === this.board.board.element && this.board.hand.slot !== null) return;
    if (event.key === "ArrowLeft") this.step(() => this.tree.back());
    else if (event.key === "ArrowRight") this.step(() => this.tree.next());
    else if (event.key === "Home") this.go(0);
    else return;
    event.preventDefault();
  }
}

/** @param {string} text of a position */
const seatToPlay = (text) => Number(text.split(" ")[4]);

/** @param {JudgedMove} move @returns {Move} */
export function toMove({ slot, cells, word }) {
  return slot !== undefined && cells ? { slot, cells } : { word: word ?? "decline" };
}
