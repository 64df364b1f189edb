// The screen of a game: the person's tile, where it might be placed and what that scores; then the agents' decisions.

import { gamePath } from "./addresses.js";
import { Refusal, get, isAbort, post } from "./api.js";
import { frameBoard } from "./board.js";
import { Clocks } from "./clock.js";
import { createButtons, createCurtain, createRack } from "./controls.js";
import { announce, fill, html, isForeignKey, wait } from "./dom.js";
import { createEnding } from "./ending.js";
import { News } from "./news.js";
import { createPanels, createTable, createUnseen } from "./panels.js";
import { describePlacement } from "./placement.js";
import { SeatLinks, openSeat } from "./seat_links.js";
import { describeEvents, nameAction } from "./sentences.js";
import { playChange } from "./sounds.js";
import { TableActions, ThinkingControls } from "./table_actions.js";
import { TilePlacer } from "./tile_placer.js";
import { texts } from "./texts.js";

/** @import { Game, GameEvent, Hint, Thinking } from "./api_types.js" */

/** @typedef {{word: "swap" | "decline"} | {slot: number, cells: number[]}} PersonDecision */

/** @type {Record<string, number>} milliseconds after an agent's move, so that it is seen before the next one */
const PACES = { slow: 2500, normal: 900, fast: 150 };
const WHILE_BUSY_MS = 50; // before it is seen whether a request is done
const WHEN_BUSY_MS = 1000; // before a busy server is asked again
const LONG_POLL_S = 10; // how long the server may hold an answer back for an agent
const CLOCK_MS = 1000; // between two updates of the agent's thinking time
const MIN_SHOWN_S = 3; // shorter thinking times are not shown

/**
 * @param {HTMLElement} place
 * @param {string} key its id, perhaps with the secret of a link
 */
export async function openGame(place, key) {
  const game = await openSeat(place, key);
  const screen = new GameScreen(place, game, key);
  const onKey = (/** @type {KeyboardEvent} */ event) => screen.onKey(event);
  document.addEventListener("keydown", onKey);
  screen.show();
  screen.playAgents();
  return () => {
    screen.leave();
    document.removeEventListener("keydown", onKey);
  };
}

/**
 * Send a request, again and again while the server is busy.
 * @template Answer
 * @param {() => Promise<Answer>} send
 */
async function retryWhileBusy(send) {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 503) throw error;
      await wait(WHEN_BUSY_MS);
    }
  }
}

/** @param {string} id of the game */
const createLookBack = (id) => html("a", { href: `#/replay/${id}` }, texts.lookBack);

class GameScreen extends TilePlacer {
  /**
   * @param {HTMLElement} place
   * @param {Game} game
   * @param {string} key
   */
  constructor(place, game, key) {
    super(game.rules);
    this.key = key;
    this.leaving = new AbortController();
    this.busy = false; // a request is on its way
    this.stuck = false; // an agent's decision did not come
    this.channel = new BroadcastChannel("genial"); // to other windows with the same game
    this.channel.onmessage = ({ data }) => this.follow(data);
    this.onVisible = () => document.visibilityState === "visible" && this.catchUp();
    document.addEventListener("visibilitychange", this.onVisible);
    this.board.element.addEventListener("focus", () => this.showHand());
    this.statusText = html("span", { role: "status" });
    this.clockText = html("span", { class: "since" }); // apart, so that it is not read out every second
    this.clocks = new Clocks(() => this.catchUp());
    this.status = html("div", { class: "status" }, this.statusText, this.clockText, this.clocks.element);
    this.clock = setInterval(() => this.showClock(), CLOCK_MS);
    this.run = 0; // which loop over the agents' decisions goes on
    this.resumes = false; // the next request has an agent think again whose thinking was cancelled
    this.paused = false;
    this.pace = "normal";
    this.pause = html("button", { type: "button", class: "main", onclick: () => this.togglePause() }, texts.pause);
    this.watch = this.createWatch();
    this.side = html("div", { class: "panels" });
    this.unseen = createUnseen();
    this.log = html("ol", { class: "moves" });
    this.links = new SeatLinks((what, data) => this.change(what, data));
    this.thinking = new ThinkingControls((what, data) => this.change(what, data), () => this.playAgents(true));
    this.table = new TableActions((what, data) => this.change(what, data));
    const follows = game.seating.shared || game.role === "spectator";
    this.news = new News(key, follows, (found) => this.receive(found), (words) => this.loseGame(words));
    this.ending = html("div");
    const open = matchMedia("(min-width: 861px)").matches; // there is room for it
    const log = html("details", { class: "log card", open }, html("summary", {}, texts.movesSoFar), this.log, createLookBack(game.id));
    fill(
      place,
      createTable(game.rules, {
        title: game.names.join(", "),
        status: this.status,
        board: frameBoard(this.board),
        controls: [this.preview, this.table.question, this.thinking.element, this.watch, this.controls],
        beside: [this.ending, this.links.element, this.side, this.unseen.element, this.table.element, log],
      }),
    );
    /** @type {import("./controls.js").Actions} */
    this.actions = {
      lay: () => this.confirm(),
      takeBack: () => this.undo(),
      rotate: () => this.rotate(1),
      hint: () => this.hint(),
      swap: () => this.play({ word: "swap" }),
      decline: () => this.play({ word: "decline" }),
    };
    this.game = game;
    /** @type {import("./sentences.js").Told[]} by the number of the event */
    this.told = [];
    this.thought = { turn: -1, from: 0, waits: false, compiling: false }; // since when the agent has been thinking
    this.setGame(game);
  }

  get left() {
    return this.leaving.signal.aborted;
  }

  leave() {
    clearInterval(this.clock);
    this.channel.close();
    this.news.close();
    this.clocks.close();
    document.removeEventListener("visibilitychange", this.onVisible);
    this.leaving.abort();
  }

  /** @param {Game} game */
  setGame(game) {
    const before = this.game;
    playChange(before, game);
    const isSame = before.turn === game.turn && before.seat === game.seat && before.position.board === game.position.board;
    game.key = this.key;
    this.game = game;
    this.told = describeEvents(game.rules, game.names, this.board.grid, game.moves);
    this.channel.postMessage({ id: game.id, version: game.version });
    this.noteThinking(game);
    if (isSame && before !== game && game.choice && before.choice) return; // the tile in hand stays there
    this.hand.reset(game.choice?.pairs ?? []);
    const filled = this.tiles.flatMap((tile, slot) => (tile ? [slot] : []));
    if (game.choice && filled.length === 1) this.hand.slot = filled[0];
  }

  /**
   * Note how long the agent has been thinking, by the server's clock.
   * @param {{thinking?: Thinking, turn: number}} progress
   */
  noteThinking({ thinking, turn }) {
    if (thinking) this.thought = { ...thinking, turn, from: Date.now() - 1000 * thinking.seconds };
    else if (this.thought.turn !== turn) this.thought = { turn, from: Date.now(), waits: false, compiling: false };
  }

  // What is known

  get laying() {
    return this.game;
  }

  /** Whether the person may decide now. */
  get choosing() {
    return Boolean(this.game.choice) && !this.busy;
  }

  /** Whether the person may place a tile now. */
  get placing() {
    return this.choosing && this.pairs.length > 0;
  }

  get pairs() {
    return this.game.choice?.pairs ?? [];
  }

  /** Whether the person to play must first say so, while the others look away. */
  get curtain() {
    return this.ownTurn && this.game.seat !== this.game.position.to_play;
  }

  /** Whether somebody at this page is to play. */
  get ownTurn() {
    return this.game.waits && this.game.own.includes(this.game.position.to_play);
  }

  /** The tiles of the rack that is shown, by slot. */
  get tiles() {
    const { seat, position } = this.game;
    const rack = seat === null ? [] : position.racks[seat];
    return typeof rack === "number" ? [] : rack;
  }

  /** The name of the seat to play. */
  get name() {
    return this.game.names[this.game.position.to_play];
  }

  /** Whether agents alone play. */
  get watching() {
    return this.game.people.length === 0;
  }

  /**
   * The placements that are marked on the board: those since the last decision of the person to play; while agents
   * play, the last decision of a person too. If agents alone play, it is the last placement.
   */
  get markedPlacements() {
    const { moves, people, waits, position } = this.game;
    const seats = waits ? [position.to_play] : people;
    const movers = moves.map((event) => event.seat);
    const last = Math.max(-1, ...seats.map((seat) => movers.lastIndexOf(seat)));
    const first = waits && position.phase !== "bonus" ? last + 1 : Math.max(0, last);
    return moves.slice(this.watching ? -1 : first).filter((event) => event.kind === "place");
  }

  // Showing

  show() {
    const { choice, position, moves, end } = this.game;
    this.watch.hidden = !this.watching || Boolean(end);
    this.board.show(position.board, choice?.first_tile ? new Set(choice.pairs.flat()) : null);
    this.showHand();
    this.showControls();
    this.showStatus();
    fill(this.log, moves.map((event) => html("li", {}, this.describe(event))));
    this.unseen.show(position, Boolean(end));
    fill(this.ending, end ? createEnding(this.game, end) : null);
    this.links.show(this.game);
    this.clocks.show(this.game);
    this.table.show(this.game);
    document.title = this.ownTurn ? texts.yourTurnTitle : texts.title;
  }

  showHand() {
    const { rules, names, position, end } = this.game;
    const placement = this.placement;
    const marked = this.markedPlacements;
    this.board.draw({
      marks: marked.flatMap((event) => event.cells ?? []),
      lines: this.hand.anchor === null ? this.findLastLines(marked) : (placement?.lines ?? []),
      ghosts: placement ? [{ ...placement, look: this.look }] : [],
    });
    this.board.showCursor(document.activeElement === this.board.element ? this.hand.anchor : null);
    this.preview.textContent = placement ? describePlacement(this.game, this.board.grid, placement) : this.describeLast(marked);
    fill(
      this.side,
      createPanels(rules, names, position, { over: Boolean(end), preview: placement?.fits ? placement.points : null }),
      html("p", { class: "hint" }, this.describeGame()),
    );
  }

  /** @param {GameEvent[]} placements */
  findLastLines(placements) {
    const last = placements[placements.length - 1];
    if (!last?.cells || !last.tile) return [];
    return this.board.grid.scoringLines(this.game.position, last.cells, last.tile);
  }

  /** @param {GameEvent} event */
  describe(event) {
    return this.told[event.event].words;
  }

  describeGame() {
    const words = [texts.rules(this.game.rules.named), texts.bag(this.game.position.bag)];
    if (!this.game.judge) words.push(this.game.seating.shared ? texts.noHintsInSharedGames : texts.noJudge);
    return words.join(" · ");
  }

  /** @param {GameEvent[]} placements */
  describeLast(placements) {
    return placements.length ? `${this.describe(placements[placements.length - 1])}.` : "";
  }

  showStatus() {
    const { waits, end, position } = this.game;
    const words = this.describeStatus();
    this.status.classList.toggle("bonus", waits && position.phase === "bonus");
    this.status.classList.toggle("thinking", !waits && !end);
    if (this.statusText.textContent !== words) this.statusText.textContent = words;
    this.showClock();
  }

  describeStatus() {
    const { position, end, waits } = this.game;
    if (end) return texts.gameOver;
    if (this.game.stopped && !waits) return texts.stopped(this.name);
    if (waits && !this.ownTurn) return texts.turnOfAnother(this.name, this.game.seating.absent.length > 0);
    if (!waits) return this.paused && !this.busy ? texts.paused(this.name) : texts.thinking(this.name);
    if (position.phase === "swap") return texts.turnToSwap(this.name);
    if (position.phase === "bonus") return texts.turnToPlaceBonus(this.name, position.pending_bonus, this.arrivals);
    return texts.turnToPlace(this.name);
  }

  /** The markers that have earned the bonus turn, in words. */
  get arrivals() {
    const own = this.game.moves.filter((event) => event.seat === this.game.position.to_play);
    const found = own.map((event) => this.told[event.event].arrivals).filter((arrivals) => arrivals.length);
    return found[found.length - 1] ?? [];
  }

  /** Show how long the agent has been thinking, if it is long. */
  showClock() {
    const isThinking = this.agentsPlay && !this.stuck && (this.busy || !this.paused);
    const seconds = isThinking ? Math.floor((Date.now() - this.thought.from) / 1000) : 0;
    this.thinking.show(this.game, seconds >= MIN_SHOWN_S);
    this.clockText.textContent = seconds < MIN_SHOWN_S ? "" : texts.since(seconds, this.thought);
  }

  /** Show the rack and the buttons. The focus stays where it is, or goes to the board. */
  showControls() {
    const { activeElement } = document;
    const hadFocus = activeElement instanceof HTMLElement && activeElement.closest(".controls") !== null;
    const action = hadFocus ? activeElement.dataset.act : undefined;
    fill(this.controls, this.createControls());
    if (action === undefined) return;
    const again = this.controls.querySelector(`[data-act="${action}"]:not(:disabled)`);
    (again instanceof HTMLElement ? again : this.board.element).focus({ preventScroll: true });
  }

  createControls() {
    if (this.game.end) return [];
    if (this.stuck) {
      return [html("button", { type: "button", class: "main", onclick: () => this.playAgents() }, texts.tryAgain)];
    }
    if (this.curtain) return [createCurtain(this.name, () => this.openCurtain())];
    if (this.game.seat === null) return [];
    const { choosing, placing, hand } = this;
    const rack = createRack(this.tiles, { chosen: hand.slot, disabled: !placing, onPick: (slot) => this.pick(slot) });
    return [rack, createButtons(this.game, { choosing, placing, isHeld: hand.slot !== null, isFixed: hand.fixed }, this.actions)];
  }

  async openCurtain() {
    await this.attempt(async () => {
      this.setGame(await get(gamePath(this.key, "", { seat: this.game.position.to_play })));
    });
    this.controls.querySelector("button")?.focus();
  }

  // The tile in hand

  refresh() {
    this.showHand();
    this.showControls();
  }

  /** @param {{slot: number, cells: number[]}} decision */
  lay(decision) {
    this.play(decision);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (isForeignKey(event)) return;
    const action = this.findKeyAction(event);
    if (action === null) return;
    event.preventDefault();
    action();
  }

  /** @param {KeyboardEvent} event */
  findKeyAction(event) {
    if (this.choosing && this.game.judge && event.key.toLowerCase() === "h") return () => this.hint();
    return this.findHandAction(event);
  }

  // Watching agents

  createWatch() {
    const step = html("button", { type: "button", onclick: () => this.step() }, texts.stepOn);
    const paces = Object.keys(PACES).map((name) => html("option", { value: name }, texts.paces[name]));
    const select = html("select", { onchange: (event) => (this.pace = event.target.value) }, paces);
    select.value = this.pace;
    return html("div", { class: "buttons watch" }, this.pause, step, html("label", {}, html("span", {}, texts.pace), select));
  }

  togglePause() {
    this.setPaused(!this.paused);
    if (!this.paused) this.playAgents();
  }

  /** Show the next decision, then pause. */
  async step() {
    this.setPaused(true);
    if (this.agentsPlay && !this.busy) await this.playOne();
  }

  /** @param {boolean} paused */
  setPaused(paused) {
    this.run += 1; // the loop ends
    this.paused = paused;
    this.pause.textContent = paused ? texts.goOn : texts.pause;
    this.showStatus();
  }

  // Other windows with the same game

  /**
   * Show what was played in another window.
   * @param {{id: string, version: string}} news
   */
  async follow({ id, version }) {
    if (id === this.game.id && version !== this.game.version && !(this.watching && this.paused)) await this.catchUp();
  }

  /** Show the game as it stands, unless a request that will show it is on its way. */
  async catchUp() {
    if (this.busy || this.game.end) return;
    const { version } = this.game;
    const game = await get(gamePath(this.key)).catch(() => null);
    if (game !== null && this.game.version === version) this.receive(game);
  }

  /**
   * Show a game that was not asked for by something done here, unless a request that will show it is on its way.
   * @param {Game} game
   * @returns {boolean} whether it is shown
   */
  receive(game) {
    if (game.version === this.game.version) return true;
    if (this.left || this.busy) return false;
    const { turn } = this.game;
    this.setGame(game);
    this.show();
    this.showControls();
    if (game.turn > turn) game.moves.slice(-1).forEach((event) => announce(this.describe(event)));
    if (!this.paused) this.playAgents();
    return true;
  }

  /**
   * Say why the game is no longer there: nothing can be done here any more.
   * @param {string} words
   */
  loseGame(words) {
    this.leave();
    this.statusText.textContent = words;
    [this.controls, this.table.element, this.table.question].forEach((each) => fill(each));
  }

  // Requests

  /** @param {PersonDecision} decision */
  async play(decision) {
    const { turn, seat } = this.game;
    await this.attempt(async () => {
      this.setGame(await post(gamePath(this.key, "/play"), { turn, seat, ...decision }));
    });
    await this.playAgents();
  }

  /**
   * Change who plays, also while an agent thinks.
   * @param {string} what the last part of the address
   * @param {object} data
   */
  async change(what, data) {
    const { turn, seat } = this.game;
    try {
      this.setGame(await post(gamePath(this.key, `/${what}`), { turn, seat, ...data }));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.say(error.message);
      return;
    }
    this.show();
    this.showControls();
    await this.playAgents();
  }

  /**
   * Show the agents' decisions one after the other.
   * @param {boolean} [resume] whether an agent whose thinking was cancelled thinks again
   */
  async playAgents(resume = false) {
    this.resumes = resume;
    if (resume) {
      this.game.stopped = false;
      this.thought = { turn: this.game.turn, from: Date.now(), waits: false, compiling: false };
      this.showStatus();
    }
    const run = ++this.run;
    while (run === this.run && this.agentsPlay) {
      while (this.busy) await wait(WHILE_BUSY_MS); // with the last request of another loop
      if (!(await this.playOne())) return;
      if (this.agentsPlay) await wait(PACES[this.pace]);
    }
  }

  /** Whether agents are to play. */
  get agentsPlay() {
    const { waits, end, stopped, role } = this.game;
    return !this.left && !waits && !end && !stopped && role !== "spectator";
  }

  /** Show one decision of an agent; return whether it came. */
  async playOne() {
    this.stuck = false;
    if (await this.attempt(() => this.playAgent())) return true;
    this.stuck = !this.left;
    this.showControls();
    return false;
  }

  async playAgent() {
    const { turn, seat, moves } = this.game;
    /** @type {Game} */
    const game = await this.poll(() => {
      const data = { turn, seat, wait: LONG_POLL_S, resume: this.resumes };
      this.resumes = false;
      return post(gamePath(this.key, "/advance"), data, this.leaving.signal);
    });
    if (this.left || this.game.turn !== turn) return;
    this.setGame(game);
    game.moves.slice(moves.length).forEach((event) => announce(this.describe(event)));
  }

  /**
   * Send a request until the agent has decided.
   * @template {{thinking?: Thinking}} Answer
   * @param {() => Promise<Answer>} send
   */
  async poll(send) {
    for (;;) {
      const answer = await retryWhileBusy(send);
      if (this.left || !answer.thinking) return answer;
      this.noteThinking({ thinking: answer.thinking, turn: this.game.turn });
      this.showClock();
    }
  }

  async hint() {
    if (!this.choosing) return;
    const { seat, position, turn } = this.game;
    let words = "";
    const done = await this.attempt(async () => {
      /** @type {Hint} */
      const hint = await this.poll(() => get(gamePath(this.key, "/hint", { seat: seat ?? "", turn, wait: LONG_POLL_S })));
      if (hint.cells && hint.slot !== undefined) this.hand.put(hint.slot, hint.cells, this.board.grid);
      words = texts.hintWords(nameAction(hint.word, position.phase), hint.utility, hint.win);
    });
    if (done && words) this.say([words, this.preview.textContent].filter(Boolean).join(" "));
  }

  /**
   * Do something with the server while nothing else can be done, then show the game.
   * @param {() => Promise<void>} act
   * @returns {Promise<boolean>} whether it was done, or the game has gone on meanwhile
   */
  async attempt(act) {
    if (this.busy) return false;
    this.busy = true;
    this.showControls();
    let refusal = null;
    try {
      await act();
    } catch (error) {
      if (isAbort(error)) return false;
      if (!(error instanceof Refusal)) throw error;
      refusal = error;
      if (error.status === 409) this.setGame(await get(gamePath(this.key)));
    } finally {
      this.busy = false;
    }
    if (this.left) return false;
    this.show();
    if (refusal) this.say(refusal.message);
    return refusal === null || refusal.status === 409;
  }
}
