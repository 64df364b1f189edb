// The first screen: a new game, and those that are there.

import { get, post } from "./api.js";
import { fill, h } from "./dom.js";
import { rulesWords } from "./panels.js";

const PERSON = "person";
const MODES = { individual: "each for themselves", team: "two teams of two", solo: "solo" };
const EDITIONS = { 2025: "2025 (IELLO)", 2009: "2009 (Filosofia)", 2004: "2004 (Kosmos)" };

export async function startScreen(place, setup) {
  const games = h("section", { class: "card", "aria-label": "Your games" });
  fill(place, h("div", { class: "start" }, new NewGame(setup.combinations).element, games));
  await listGames(games);
}

class NewGame {
  constructor(combinations) {
    this.combinations = combinations;
    this.asked = 0;
    this.players = choice("Seats", [1, 2, 3, 4].map((n) => [n, n === 1 ? "1 (solo)" : String(n)]), 2);
    this.edition = choice("Edition", [], null);
    this.mode = choice("Mode", [], null);
    this.seats = h("fieldset", { class: "seats" });
    this.seed = h("input", { inputmode: "numeric", autocomplete: "off", placeholder: "drawn at random", pattern: "[0-9]*" });
    this.variants = {
      side: number(3, 10),
      colors: number(2, 6),
      rack: number(2, 6),
    };
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.button = h("button", { class: "main" }, "Begin");
    this.element = this.form();
    this.players.select.addEventListener("change", () => this.offer());
    this.edition.select.addEventListener("change", () => this.offer());
    for (const control of [this.mode.select, ...Object.values(this.variants)]) {
      control.addEventListener("change", () => this.check());
    }
    this.offer();
  }

  form() {
    return h(
      "form",
      { class: "card", novalidate: true, onsubmit: (event) => this.begin(event) },
      h("h1", {}, "New game"),
      h("div", { class: "fields" }, this.players.element, this.edition.element, this.mode.element),
      this.seats,
      h(
        "details",
        {},
        h("summary", {}, "Seed and variants"),
        h("p", { class: "hint" }, "The same seed deals the same tiles. Left empty, everything is as printed."),
        h(
          "div",
          { class: "fields" },
          labelled("Seed", this.seed),
          labelled("Cells along an edge (3 to 10)", this.variants.side),
          labelled("Colors (2 to 6)", this.variants.colors),
          labelled("Tiles on a rack (2 to 6)", this.variants.rack),
        ),
      ),
      this.problem,
      this.button,
    );
  }

  /** Only editions and modes that go with the number of seats. */
  offer() {
    const fitting = this.combinations.filter((each) => each.players.includes(Number(this.players.select.value)));
    this.edition.offer(Object.entries(EDITIONS).filter(([name]) => fitting.some((each) => each.edition === name)).reverse());
    const modes = fitting.filter((each) => each.edition === this.edition.select.value).map((each) => each.mode);
    this.mode.offer(modes.map((mode) => [mode, MODES[mode]]));
    this.check();
  }

  rules() {
    const sizes = Object.entries(this.variants).filter(([, input]) => input.value !== "");
    return {
      players: Number(this.players.select.value),
      edition: this.edition.select.value,
      mode: this.mode.select.value,
      ...Object.fromEntries(sizes.map(([name, input]) => [name, Number(input.value)])),
    };
  }

  /** Ask the server whether this can be played, and by whom. */
  async check() {
    const asked = ++this.asked;
    try {
      const found = await post("/api/rules", this.rules());
      if (asked === this.asked) this.offerSeats(found);
    } catch (error) {
      if (asked === this.asked) this.complain(error.message);
    }
  }

  offerSeats({ rules, agents }) {
    this.complain(null);
    const before = [...this.seats.querySelectorAll("select")].map((select) => select.value);
    const usual = agents.includes("value") ? "value" : "denial";
    const options = [[PERSON, "a person"], ...agents.map((name) => [name, name])];
    const seats = Array.from({ length: rules.players }, (_, seat) => {
      const wanted = before[seat] === PERSON || agents.includes(before[seat]) ? before[seat] : seat === 0 ? PERSON : usual;
      const words = rules.mode === "team" ? `Seat ${seat} (team ${seat % 2})` : `Seat ${seat}`;
      return choice(words, options, wanted).element;
    });
    fill(this.seats, h("legend", {}, "Who plays"), h("div", { class: "fields" }, seats));
  }

  complain(words) {
    this.problem.textContent = words ?? "";
    this.problem.hidden = words === null;
    this.button.disabled = words !== null;
  }

  async begin(event) {
    event.preventDefault();
    if (!/^[0-9]*$/.test(this.seed.value.trim())) return this.problemOnly("The seed must be a whole number.");
    const players = [...this.seats.querySelectorAll("select")].map(({ value }) => (value === PERSON ? null : value));
    const seed = this.seed.value.trim() === "" ? null : Number(this.seed.value);
    try {
      const game = await post("/api/games", { rules: this.rules(), players, seed });
      location.hash = `#/game/${game.id}`;
    } catch (error) {
      this.problemOnly(error.message);
    }
  }

  problemOnly(words) {
    this.complain(words);
    this.button.disabled = false;
  }
}

function choice(words, options, value) {
  const select = h("select");
  const offer = (offered, wanted = select.value) => {
    fill(select, offered.map(([name, shown]) => h("option", { value: name }, shown)));
    if (offered.some(([name]) => String(name) === String(wanted))) select.value = wanted;
  };
  offer(options, value);
  return { select, offer, element: labelled(words, select) };
}

const labelled = (words, control) => h("label", {}, h("span", {}, words), control);

const number = (min, max) => h("input", { type: "number", min, max, placeholder: "as printed" });

async function listGames(place) {
  const games = await get("/api/games");
  const remove = async (game) => {
    try {
      await post(`/api/games/${game.id}/remove`, {});
      await listGames(place);
    } catch (error) {
      place.append(h("p", { class: "problem", role: "alert" }, error.message));
    }
  };
  fill(
    place,
    h("h2", {}, "Your games"),
    games.length === 0
      ? h("p", { class: "hint" }, "None yet. Games are kept here, also when this page is closed or the server restarted.")
      : h("ul", { class: "games" }, games.map((game) => gameItem(game, remove))),
    h("p", {}, h("a", { href: "#/replay" }, "Open a game record"), " to step through it and have it reviewed."),
  );
}

function gameItem(game, remove) {
  const quiet = (label) => h("button", { type: "button", class: "quiet", "aria-label": label, onclick: () => remove(game) }, "Remove");
  if (game.fault) return h("li", {}, h("span", { class: "problem" }, `A game that cannot go on: ${game.fault}`), quiet("Remove the game that cannot go on"));
  const names = game.names.join(", ");
  return h(
    "li",
    {},
    h("a", { href: `#/game/${game.id}` }, names),
    h("span", { class: "hint" }, `${rulesWords(game.rules)} · ${game.over ? "over" : `${game.turn} decisions`}`),
    quiet(`Remove the game of ${names}`),
  );
}
