// The rating of the person who solves puzzles, and the puzzles made from the person's own games. The browser keeps them.

const STORE = "genial-solver";
const OWN = "genial-own-puzzles";
const MOST_OWN = 200;
const FIRST = { rating: 0, deviation: 350, tries: 0, solved: 0, done: /** @type {Record<string, boolean>} */ ({}) };
const LEAST_DEVIATION = 45;
const PUZZLE_DEVIATION = 80;
const Q = Math.LN10 / 400;

/** @typedef {typeof FIRST} Solver */

/**
 * A decision of an own game that lost something.
 * @typedef {{text: string, when: number, verdict: string, done?: boolean}} OwnPuzzle
 */

/**
 * @template T
 * @param {string} name
 * @param {T} missing
 * @returns {T}
 */
function load(name, missing) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null") ?? missing;
  } catch {
    return missing;
  }
}

/**
 * @param {string} name
 * @param {unknown} data
 */
function store(name, data) {
  try {
    localStorage.setItem(name, JSON.stringify(data));
  } catch {
    // The browser keeps nothing for this page, or has no room: the rating lasts as long as the page.
  }
}

/** @returns {Solver} */
export function loadSolver() {
  const found = { ...FIRST, ...load(STORE, FIRST) };
  return Number.isFinite(found.rating) && Number.isFinite(found.deviation) ? found : { ...FIRST };
}

/**
 * Return the solver after a first try at a puzzle, rated as a game by Glicko (Glickman, 1999), and keep it.
 * @param {Solver} solver
 * @param {{id: string, rating: number}} puzzle
 * @param {boolean} isSolved
 * @returns {Solver}
 */
export function rateTry(solver, { id, rating }, isSolved) {
  const g = 1 / Math.sqrt(1 + (3 * (Q * PUZZLE_DEVIATION) ** 2) / Math.PI ** 2);
  const expected = 1 / (1 + 10 ** ((-g * (solver.rating - rating)) / 400));
  const information = Q ** 2 * g ** 2 * expected * (1 - expected);
  const precision = 1 / solver.deviation ** 2 + information;
  const next = {
    rating: solver.rating + (Q / precision) * g * (Number(isSolved) - expected),
    deviation: Math.max(LEAST_DEVIATION, Math.sqrt(1 / precision)),
    tries: solver.tries + 1,
    solved: solver.solved + Number(isSolved),
    done: { ...solver.done, [id]: isSolved },
  };
  store(STORE, next);
  return next;
}

/** @returns {OwnPuzzle[]} */
export function listOwnPuzzles() {
  const found = load(OWN, /** @type {OwnPuzzle[]} */ ([]));
  return Array.isArray(found) ? found : [];
}

/**
 * Keep puzzles of own games; return how many are new.
 * @param {OwnPuzzle[]} puzzles
 */
export function addOwnPuzzles(puzzles) {
  const known = listOwnPuzzles();
  const fresh = puzzles.filter(({ text }) => !known.some((each) => each.text === text));
  store(OWN, [...fresh, ...known].slice(0, MOST_OWN));
  return fresh.length;
}

/** @param {string} text */
export function markOwnPuzzle(text) {
  store(OWN, listOwnPuzzles().map((each) => (each.text === text ? { ...each, done: true } : each)));
}
