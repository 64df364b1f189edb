// The first screen: the form for a new game, and the list of games.

import { Refusal, get, post } from "./api.js";
import { fill, html } from "./dom.js";
import { listJoined } from "./lobby.js";
import { describeResult } from "./sentences.js";
import { texts } from "./texts.js";

/** @import { Choices, GameSummary, NamedRules, Mode, Rules, Size } from "./api_types.js" */

/**
 * Options of a select element: value and label.
 * @typedef {[string, string][]} Options
 */

const PERSON = "person";
const BY_LINK = "link"; // a person in another browser
const USUAL_AGENTS = ["value", "denial"]; // the first of them that can play the game is offered
const USUAL_PLAYERS = 2;
/** @type {Size[]} */
const SIZES = ["side", "colors", "rack", "tile_sets"];
const MAX_NAME = 24; // characters of a person's name

/**
 * @param {HTMLElement} place
 * @param {Choices} choices
 */
export async function openStart(place, choices) {
  const games = html("section", { class: "card", "aria-label": texts.yourGames });
  fill(place, html("div", { class: "start" }, new NewGame(choices).element, games));
  await listGames(games);
}

/** The form for a new game. Only what goes together can be chosen. */
class NewGame {
  /** @param {Choices} choices */
  constructor({ combinations, sizes, ratings }) {
    this.combinations = combinations;
    this.ratings = ratings;
    this.checks = 0; // requests to check the rules; only the answer to the last one counts
    const players = [...new Set(combinations.flatMap((each) => each.players))].sort();
    this.players = new Select(texts.seats, players.map((count) => [String(count), texts.seatCount(count)]));
    this.players.value = String(USUAL_PLAYERS);
    this.edition = new Select(texts.edition);
    this.mode = new Select(texts.mode);
    this.seats = html("fieldset", { class: "seats" });
    this.seed = html("input", { inputmode: "numeric", autocomplete: "off", placeholder: texts.seedDrawn, pattern: "[0-9]*" });
    this.sizes = SIZES.map((name) => {
      const [min, max] = sizes[name];
      const input = html("input", { type: "number", min, max, placeholder: texts.asPrinted });
      return { name, input, label: createLabel(texts.sizeTitles[name](min, max), input) };
    });
    this.oneBonus = html("input", { type: "checkbox" });
    this.minutes = html("input", { type: "number", min: 1, max: 1440, placeholder: texts.noClock });
    this.seconds = html("input", { type: "number", min: 0, max: 3600, placeholder: "0" });
    this.problem = html("p", { class: "problem", role: "alert", hidden: true });
    this.button = html("button", { class: "main" }, texts.begin);
    this.element = this.createForm();
    this.players.onChange(() => this.offerEditions());
    this.edition.onChange(() => this.offerEditions());
    this.mode.onChange(() => this.check());
    [...this.sizes.map(({ input }) => input), this.oneBonus].forEach((input) => {
      input.addEventListener("change", () => this.check());
    });
    this.offerEditions();
  }

  createForm() {
    const oneBonus = createLabel(texts.oneBonusATile, this.oneBonus);
    const fields = [createLabel(texts.seed, this.seed), ...this.sizes.map(({ label }) => label), oneBonus];
    const clock = [createLabel(texts.clockMinutes, this.minutes), createLabel(texts.clockSeconds, this.seconds)];
    return html(
      "form",
      { class: "card", novalidate: true, onsubmit: (event) => this.begin(event) },
      html("h1", {}, texts.newGame),
      html("p", { class: "hint" }, html("a", { href: "#/introduction" }, texts.tryIntroduction)),
      html("div", { class: "fields" }, this.players.element, this.edition.element, this.mode.element),
      this.seats,
      html(
        "details",
        {},
        html("summary", {}, texts.variants),
        html("p", { class: "hint" }, texts.variantsHelp),
        html("div", { class: "fields" }, fields),
      ),
      html(
        "details",
        {},
        html("summary", {}, texts.clockTitle),
        html("p", { class: "hint" }, texts.clockHelp),
        html("div", { class: "fields" }, clock),
      ),
      this.problem,
      this.button,
    );
  }

  /** Offer the editions and modes that go with the number of seats. */
  offerEditions() {
    const fitting = this.combinations.filter((each) => each.players.includes(Number(this.players.value)));
    const editions = [...new Set(fitting.map((each) => each.edition))].sort().reverse();
    this.edition.offer(editions.map((edition) => [edition, texts.editionTitle(edition)]));
    const modes = fitting.filter((each) => each.edition === this.edition.value).map((each) => each.mode);
    this.mode.offer(modes.map((mode) => [mode, texts.modeTitles[mode]]));
    this.check();
  }

  /** @returns {NamedRules} */
  get rules() {
    const sizes = this.sizes.filter(({ input }) => input.value !== "");
    return {
      players: Number(this.players.value),
      edition: this.edition.value,
      mode: /** @type {Mode} */ (this.mode.value),
      ...Object.fromEntries(sizes.map(({ name, input }) => [name, Number(input.value)])),
      ...(this.oneBonus.checked ? { one_bonus_a_tile: true } : {}),
    };
  }

  /** Ask the server whether this can be played, and by which agents. */
  async check() {
    const number = ++this.checks;
    try {
      /** @type {{rules: Rules, agents: string[]}} */
      const { rules, agents } = await post("/api/rules", this.rules);
      if (number === this.checks) this.offerSeats(rules, agents);
    } catch (error) {
      if (number === this.checks) this.showProblem(error);
    }
  }

  /** The time of each person; null for no clock, also if no person plays. */
  get clock() {
    const isPlayed = this.seatSelects.some(({ value }) => value === PERSON || value === BY_LINK);
    if (this.minutes.value === "" || !isPlayed) return null;
    return { main_s: 60 * Number(this.minutes.value), move_s: Number(this.seconds.value) };
  }

  get seatSelects() {
    return [...this.seats.querySelectorAll("select")];
  }

  /** The names of people, by seat; null where an agent plays or no name is given. */
  get names() {
    return [...this.seats.querySelectorAll("input")].map((input) => (input.hidden ? null : input.value.trim() || null));
  }

  /**
   * @param {Rules} rules
   * @param {string[]} agents
   */
  offerSeats(rules, agents) {
    this.showProblem(null);
    const before = this.seatSelects.map((select) => select.value);
    const named = this.names;
    const usual = USUAL_AGENTS.find((name) => agents.includes(name)) ?? agents[0];
    /** @type {Options} */
    const options = [[PERSON, texts.person], [BY_LINK, texts.personByLink], ...sortAgents(agents).map((name) => this.nameAgent(name, rules))];
    const seats = Array.from({ length: rules.players }, (_, seat) => {
      const team = rules.seats_by_track.findIndex((each) => each.includes(seat));
      const select = new Select(rules.mode === "team" ? texts.teamSeat(seat, team) : texts.seat(seat), options);
      const isOffered = options.some(([name]) => name === before[seat]);
      select.value = isOffered ? before[seat] : seat === 0 ? PERSON : usual;
      return createSeat(seat, select, named[seat] ?? "");
    });
    fill(
      this.seats,
      html("legend", {}, texts.whoPlays),
      html("div", { class: "fields top" }, seats),
      html("p", { class: "hint" }, texts.ratingHelp),
    );
  }

  /**
   * Return an option for an agent, with its strength.
   * @param {string} name
   * @param {Rules} rules
   * @returns {[string, string]}
   */
  nameAgent(name, { players, mode }) {
    const rating = mode === "team" ? undefined : this.ratings[name]?.[players];
    return [name, texts.agent(name, texts.opponents[name]?.strength, rating)];
  }

  /**
   * Show what is wrong.
   * @param {unknown} error null for nothing
   * @param {boolean} mayRetry whether the same game may be begun again
   */
  showProblem(error, mayRetry = false) {
    this.problem.textContent = error instanceof Error ? texts.formProblem(error.message) : "";
    this.problem.hidden = error === null;
    this.button.disabled = error !== null && !mayRetry;
  }

  /** @param {SubmitEvent} event */
  async begin(event) {
    event.preventDefault();
    const seed = this.seed.value.trim();
    const chosen = this.seatSelects.map(({ value }) => value);
    const players = chosen.map((value) => (value === PERSON || value === BY_LINK ? null : value));
    const links = chosen.map((value) => value === BY_LINK);
    const clock = this.clock;
    try {
      if (!/^[0-9]*$/.test(seed)) throw new Refusal(400, texts.badSeed);
      const sent = { rules: this.rules, players, names: this.names, links, clock, seed: seed === "" ? null : Number(seed) };
      const game = await post("/api/games", sent);
      location.hash = `#/game/${game.id}`;
    } catch (error) {
      this.showProblem(error, true);
    }
  }
}

/** A select element with a label. */
class Select {
  /**
   * @param {string} label
   * @param {Options} options
   */
  constructor(label, options = []) {
    this.select = html("select");
    this.element = createLabel(label, this.select);
    this.offer(options);
  }

  get value() {
    return this.select.value;
  }

  set value(value) {
    this.select.value = value;
  }

  /**
   * Replace the options; what was chosen stays chosen if it is still there.
   * @param {Options} options
   */
  offer(options) {
    const before = this.value;
    fill(this.select, options.map(([value, label]) => html("option", { value }, label)));
    if (options.some(([value]) => value === before)) this.value = before;
  }

  /** @param {() => void} listener */
  onChange(listener) {
    this.select.addEventListener("change", listener);
  }
}

/**
 * @param {string} words
 * @param {HTMLElement} control
 */
const createLabel = (words, control) => html("label", {}, html("span", {}, words), control);

/**
 * Create the fields of a seat: who plays there, the name of a person, and what an agent does.
 * @param {number} seat
 * @param {Select} select
 * @param {string} name
 */
function createSeat(seat, select, name) {
  const label = texts.nameOf(seat);
  const input = html("input", { maxlength: MAX_NAME, autocomplete: "off", placeholder: texts.name, "aria-label": label });
  input.value = name;
  const about = html("p", { class: "hint" });
  const show = () => {
    input.hidden = select.value !== PERSON;
    about.textContent = select.value === BY_LINK ? texts.byLinkHelp : (texts.opponents[select.value]?.about ?? "");
  };
  select.onChange(show);
  show();
  return html("div", { class: "seat-fields" }, select.element, input, about);
}

/**
 * Sort agents by strength, the weakest first; those that the page knows nothing of come last.
 * @param {string[]} agents
 */
function sortAgents(agents) {
  const known = Object.keys(texts.opponents);
  /** @param {string} name */
  const place = (name) => (known.includes(name) ? known.indexOf(name) : known.length);
  return [...agents].sort((a, b) => place(a) - place(b));
}

/** @param {HTMLElement} place */
async function listGames(place) {
  /** @type {GameSummary[]} */
  const games = await get("/api/games");
  /** @param {GameSummary} game */
  const remove = async (game) => {
    try {
      await post(`/api/games/${game.id}/remove`, {});
      await listGames(place);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      place.append(html("p", { class: "problem", role: "alert" }, error.message));
    }
  };
  const items = games.map((game) => createGameItem(game, () => remove(game)));
  fill(
    place,
    html("h2", {}, texts.yourGames),
    items.length === 0 ? html("p", { class: "hint" }, texts.noGames) : html("ul", { class: "games" }, items),
    listJoined(),
    html("p", {}, html("a", { href: "#/replay" }, texts.openRecord), texts.openRecordHelp),
  );
}

/**
 * @param {GameSummary} game
 * @param {() => void} remove
 */
function createGameItem(game, remove) {
  const started = texts.date(new Date(1000 * game.started));
  if (game.fault) {
    const fault = html("span", { class: "problem" }, texts.brokenGame(game.fault));
    const when = html("span", { class: "hint" }, started);
    return html("li", {}, fault, when, createRemoveButtons(texts.removeBroken, remove));
  }
  const { names, ranks, scores } = game;
  const state = ranks && scores ? describeResult(game, names, { ranks, scores }) : texts.decisions(game.turn);
  return html(
    "li",
    {},
    html("a", { href: `#/game/${game.id}` }, names.join(", ")),
    html("span", { class: "hint" }, `${started} · ${texts.rules(game.rules)} · `, html("strong", {}, state)),
    createRemoveButtons(texts.removeGame(names.join(", ")), remove),
  );
}

/**
 * Create a button that removes a game when it is pressed and confirmed.
 * @param {string} label
 * @param {() => void} remove
 */
function createRemoveButtons(label, remove) {
  const ask = () => {
    fill(place, html("span", {}, texts.sureToRemove), sure, keep);
    keep.focus();
  };
  const first = html("button", { type: "button", class: "quiet", "aria-label": label, onclick: ask }, texts.remove);
  const sure = html("button", { type: "button", "aria-label": texts.labelled(texts.yesRemove, label), onclick: remove }, texts.yesRemove);
  const back = () => {
    fill(place, first);
    first.focus();
  };
  const keep = html("button", { type: "button", onclick: back }, texts.keepGame);
  const place = html("span", { class: "removal" }, first);
  return place;
}
