// The words of the page in English. The file of every other language has the same keys (type Words).

import { createFormats } from "./formats.js";

/** @import { Letter, Mode, NamedRules, Proved, SeatName, Size, Verdict } from "../api_types.js" */

const YOU = "You"; // the only person
const { number, signed, percent, list, date, count } = createFormats("en");

/** @type {Record<Letter, string>} */
const colors = { R: "red", G: "green", B: "blue", O: "orange", Y: "yellow", P: "purple" };

/** @type {Record<Mode, (players: number) => string>} */
const modes = { individual: (players) => count(players, { one: "# seat", other: "# seats" }), team: () => "two teams", solo: () => "solo" };

/** @type {Record<Size, string>} */
const sizes = { side: "cells an edge", colors: "colors", rack: "tiles a rack", tile_sets: "boxes of tiles" };

/** @type {Record<string, string>} */
const editions = { 2025: "2025 (IELLO)", 2009: "2009 (Filosofia)", 2004: "2004 (Kosmos)" };

/** The article before a share, as it is spoken. @param {string} words */
const article = (words) => (/^(8|11%|18%)/.test(words) ? "an" : "a");

/** @param {string} name */
function turnOf(name) {
  return name === YOU ? "Your turn" : `${name}’s turn`;
}

/**
 * What the words of a lesson are about: points, the stop of a marker, the lowest markers of both, names of colors.
 * @typedef {{enough: number, stop: number, lowest: number[], lowestColor: string, red: string}} Facts
 *
 * @typedef {{title: string, task: string, again?: string, more?: string, done: string}} Lesson
 */

export const words = {
  title: "Génial!",
  pages: "Pages",
  playPage: "Play",
  reviewPage: "Review",
  settings: "Settings",
  language: "Language",
  theme: "Appearance",
  /** @type {Record<string, string>} */
  themes: { "": "as the system", light: "light", dark: "dark" },
  sounds: "Sounds",

  // Numbers
  number,
  percent,
  /** @param {string} label @param {string} what */
  labelled: (label, what) => `${label}: ${what}`,

  // Errors
  /**
   * What a refusal of the server means, by its code; without an entry its own sentence, in English, is shown.
   * @type {Record<string, (values: Record<string, any>) => string>}
   */
  errors: {},
  noAnswer: "The server does not answer. Is “genial serve” still running?",
  /** @param {number} status */
  badStatus: (status) => `The server answers with status ${status}.`,
  pageError: "Something went wrong in this page.",
  toStart: "To the start",
  reload: "Load again",

  // Tiles, seats and rules
  /** @param {Letter} letter */
  colorName: (letter) => colors[letter],
  /** @param {Letter} letter @param {string} shape */
  color: (letter, shape) => `${colors[letter]} ${shape}`,
  /** @param {string} first @param {string} second */
  tile: (first, second) => (first === second ? `double ${first}` : `${first} and ${second}`),
  list,
  /** @param {SeatName} seat */
  seatName: ({ code, seat, name }) => {
    if (code === "you") return YOU;
    if (code === "seat") return `Seat ${seat + 1}`;
    return code === "name" ? name : `${name} (seat ${seat + 1})`;
  },
  /** @param {NamedRules} rules */
  rules: (rules) => {
    const named = Object.entries(sizes).flatMap(([name, of]) => {
      const value = rules[/** @type {Size} */ (name)];
      return value === undefined ? [] : [`${value} ${of}`];
    });
    if (rules.one_bonus_a_tile) named.push("one bonus turn a tile");
    return [modes[rules.mode](rules.players), `edition ${rules.edition}`, ...named].join(", ");
  },
  free: "free",
  /** @param {string} color */
  startSymbol: (color) => `printed ${color}`,

  // Events
  /** @param {string} name @param {string} tile @param {string} points */
  placed: (name, tile, points) => `${name} ${name === YOU ? "lay" : "lays"} ${tile}: ${points}`,
  /** @param {string[]} halves @param {string[]} cells */
  tileAt: ([first, second], [one, other]) =>
    first === second ? `double ${first} on ${one} and ${other}` : `${first} on ${one}, ${second} on ${other}`,
  /** @param {string} color @param {number} stop */
  arrival: (color, stop) => `${color} arrives at ${stop}`,
  /** @param {string} arrival */
  bonusFor: (arrival) => `${arrival}: a bonus turn`,
  /** @param {string} name @param {string[]} tiles */
  swapped: (name, tiles) => `${name} ${name === YOU ? "show and swap" : "shows and swaps"} ${tiles.join(", ")}`,
  /** @param {string} name @param {string[]} tiles */
  drew: (name, tiles) => `${name} ${name === YOU ? "draw" : "draws"} ${tiles.join(", ")}`,
  /** @param {string} name */
  declined: (name) => `${name} ${name === YOU ? "decline" : "declines"} a bonus`,
  /** @param {string} name */
  kept: (name) => `${name} ${name === YOU ? "keep" : "keeps"} the rack`,
  /** @param {string} color @param {number} points */
  gained: (color, points) => `${color} +${points}`,
  noPoints: "no points",

  // Beside the board
  largerCells: "Larger cells",
  wholeBoard: "Whole board",
  toPlay: "to play",
  lowestCounts: "the lowest marker counts",
  /** @param {number} marker */
  lowest: (marker) => `lowest ${marker}`,
  /** @param {string | null} name @param {string[] | number} tiles */
  rack: (name, tiles) => {
    const held =
      typeof tiles === "number"
        ? count(tiles, { one: "# tile, hidden", other: "# tiles, hidden" })
        : tiles.join(", ") || "no tiles";
    return `${name === null ? "" : `${name}: `}rack: ${held}`;
  },
  /** @param {number} tiles */
  bag: (tiles) => count(tiles, { one: "# tile in the bag", other: "# tiles in the bag" }),
  noHintsInSharedGames: "no hints, as people elsewhere play",
  noJudge: "no hints: there is no judge for this game",
  /** @param {number} tiles */
  unseen: (tiles) => `Tiles not seen yet (${number(tiles)})`,
  unseenHelp: "In the bag or on hidden racks.",
  /** @param {number} tiles @param {string} tile */
  unseenTile: (tiles, tile) => `${number(tiles)} × ${tile}`,

  // The start
  newGame: "New game",
  seats: "Seats",
  edition: "Edition",
  mode: "Mode",
  /** @param {number} players */
  seatCount: (players) => (players === 1 ? "1 (solo)" : String(players)),
  /** @param {string} edition */
  editionTitle: (edition) => editions[edition] ?? edition,
  /** @type {Record<Mode, string>} */
  modeTitles: { individual: "each for themselves", team: "two teams of two", solo: "solo" },
  variants: "Seed and variants",
  variantsHelp: "The same seed deals the same tiles. Left empty, everything is as printed.",
  seed: "Seed",
  seedDrawn: "drawn at random",
  asPrinted: "as printed",
  /** @type {Record<Size, (low: number, high: number) => string>} */
  sizeTitles: {
    side: (low, high) => `Cells along an edge (${low} to ${high})`,
    colors: (low, high) => `Colors (${low} to ${high})`,
    rack: (low, high) => `Tiles on a rack (${low} to ${high})`,
    tile_sets: (low, high) => `Boxes of tiles (${low} to ${high})`,
  },
  oneBonusATile: "One bonus turn a tile",
  whoPlays: "Who plays",
  person: "a person",
  // Seats and teams are counted from 0 in data, and from 1 for people.
  /** @param {number} seat */
  seat: (seat) => `Seat ${seat + 1}`,
  /** @param {number} seat @param {number} team */
  teamSeat: (seat, team) => `Seat ${seat + 1} (team ${team + 1})`,
  name: "name (if you like)",
  /** @param {number} seat */
  nameOf: (seat) => `Name of the person on seat ${seat + 1}`,
  /** @param {string} name @param {string | undefined} strength @param {number | undefined} rating */
  agent: (name, strength, rating) => {
    const value = rating === undefined ? "" : `, ${number(rating)}`;
    return strength === undefined ? name : `${name}: ${strength}${value}`;
  },
  ratingHelp: "The numbers are ratings: who has 200 more wins about three games of four. Greedy has 0.",
  /** @type {Record<string, {strength: string, about: string}>} the weakest agents first */
  opponents: {
    random: { strength: "no skill", about: "Lays any tile anywhere." },
    points: { strength: "beginner", about: "Takes the most points, even those that move no marker." },
    greedy: { strength: "beginner", about: "Takes the most points that move a marker." },
    lexicographic: { strength: "beginner", about: "Looks after its lowest markers alone." },
    concave: { strength: "casual", about: "Takes points, above all for its low markers." },
    denial: { strength: "good", about: "As concave, and takes away what helps the others." },
    search: { strength: "strong", about: "Tries its moves in 1000 imagined games. It was rated with 300." },
    ismcts: { strength: "strong", about: "Looks ahead in a tree of 1000 imagined games. It was not rated." },
    ppo: { strength: "very strong", about: "A network that learned by playing, at once." },
    value: { strength: "very strong", about: "A network that predicts how the game ends, at once." },
    value_search: { strength: "strongest", about: "As value, and tries its moves in 1000 imagined games. It was rated with 100." },
  },
  /** Name the fields as the form does. @param {string} message of the server */
  formProblem: (message) =>
    message
      .replace(/^rules: /, "")
      .replace(/tile_sets=1\b/, "1 box of tiles")
      .replace(/tile_sets=(\d+)/, "$1 boxes of tiles")
      .replace(/tile_sets/g, "boxes of tiles"),
  begin: "Begin",
  badSeed: "The seed must be a whole number.",
  yourGames: "Your games",
  noGames: "None yet. Games are saved, also when this page is closed or the server is restarted.",
  openRecord: "Open a game record",
  openRecordHelp: " to step through it and have it reviewed.",
  /** @param {string} fault */
  brokenGame: (fault) => `A game that cannot go on: ${fault}`,
  date,
  /** @param {number} turn */
  decisions: (turn) => count(turn, { one: "# decision so far", other: "# decisions so far" }),
  remove: "Remove",
  sureToRemove: "For good?",
  yesRemove: "Remove it",
  keepGame: "Keep it",
  removeBroken: "Remove the game that cannot go on",
  /** @param {string} names */
  removeGame: (names) => `Remove the game of ${names}`,

  // A game
  boardHelp: "Board. Arrow keys go from cell to cell, R turns the tile, Enter lays it, Escape takes it back.",
  movesSoFar: "Moves so far",
  yourTurnTitle: "Your turn · Génial!",
  gameOver: "The game is over.",
  /** @param {string} name */
  thinking: (name) => `${name} is thinking …`,
  /** @param {number} seconds @param {{waits: boolean, compiling: boolean}} reasons */
  since: (seconds, { waits, compiling }) => {
    const time = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    if (compiling) return ` ${time} (compiling for this machine, once)`;
    return ` ${time}${waits ? " (waiting: the server has much to do)" : ""}`;
  },
  stopThinking: "Stop thinking",
  /** @param {string} name */
  stopped: (name) => `${name} was stopped: it is still its turn.`,
  thinkOn: "Let it think again",
  otherAgent: "Another agent",
  letPlay: "Let this one play on",
  /** @param {string} name @param {boolean} absent whether somebody has not joined yet */
  turnOfAnother: (name, absent) => (absent ? `Waiting for all to join. ${name} is to play.` : `${name} is to play.`),
  /** @param {string} name */
  turnToPlace: (name) => `${turnOf(name)}: choose a tile and lay it.`,
  /** @param {string} name */
  turnToSwap: (name) => `${turnOf(name)}: none of the lowest colors is on the rack. Swap all tiles, or keep them?`,
  /** @param {string} name @param {number} pending @param {string[]} arrivals the reasons */
  turnToPlaceBonus: (name, pending, arrivals) => {
    const whose = name === YOU ? "" : ` for ${name}`;
    const why = arrivals.length ? ` (${arrivals.join(", ")})` : "";
    return `Bonus turn${whose}${why}! Lay another tile${pending > 1 ? `; ${pending} bonus turns are left` : ""}.`;
  },
  tryAgain: "Try again",
  /** @param {string} name the player whose turn it is */
  paused: (name) => `Paused: ${name} is to play.`,
  goOn: "Go on",
  stepOn: "Step",
  pace: "Speed",
  /** @type {Record<string, string>} */
  paces: { slow: "slow", normal: "normal", fast: "fast" },
  /** @param {string} name */
  handOver: (name) => `Hand over to ${name}.`,
  racksHidden: " All racks are hidden.",
  /** @param {string} name */
  showTiles: (name) => `I am ${name}: show my tiles`,
  yourRack: "Your rack",
  /** @param {number} slot @param {string} tile */
  slot: (slot, tile) => `Tile ${slot + 1}: ${tile}`,
  swapAll: "Swap all tiles",
  keep: "Keep them",
  hint: "Hint",
  lay: "Lay it",
  takeBack: "Take back",
  rotate: "Rotate",
  declineBonus: "Decline the bonus",
  keys: { hint: "H", lay: "Enter", takeBack: "Esc", rotate: "R" },
  /** @param {string} tile */
  inHand: (tile) => `${tile} in hand.`,
  chooseTile: "Choose a tile of your rack first.",
  takenBack: "Taken back.",
  doesNotFit: "The tile does not fit here.",
  firstTile: "Your first tile must lie next to a printed symbol that has no tile beside it yet.",
  /** @param {string} where @param {string[]} halves @param {number} total @param {string[]} markers */
  preview: (where, halves, total, markers) => {
    const sum = count(total, { one: "# point", other: "# points" });
    return `${where}: ${halves.join(", ")} – ${[sum, ...markers].join("; ")}.`;
  },
  /** @param {string} color @param {number} points */
  halfPoints: (color, points) => `${color} ${points}`,
  /** @param {string} color @param {number} before @param {number} after @param {boolean} bonus */
  markerMove: (color, before, after, bonus) => `${color} ${before} → ${after}${bonus ? " – a bonus turn!" : ""}`,
  hintActions: { place: "lay this tile", swap: "swap all tiles", keep: "keep the tiles", decline: "decline the bonus" },
  /** @param {string} action @param {number} utility @param {number | null} win */
  hintWords: (action, utility, win) => {
    const value =
      win === null
        ? `a lowest marker of ${number(utility, 1)} at the end`
        : `${article(percent(win))} ${percent(win)} chance of the first place (expected rank ${signed(utility, 2)}, from −1 last to +1 first)`;
    return `Hint: ${action} – ${value}.`;
  },

  // People in several browsers
  invitationTitle: "You are invited",
  invitationHelp: "This server is for invited people. Its host knows the code: the server printed it when it started.",
  invitationCode: "Invitation code",
  enter: "Enter",
  joinTitle: "Join a game",
  /** @param {string[]} others the names of the other seats @param {number} seat @param {string} rules */
  joinWords: (others, seat, rules) =>
    `Seat ${seat + 1} is free for you${others.length ? ` in a game with ${list(others)}` : ""} (${rules}).`,
  yourName: "Your name (if you like)",
  join: "Join",
  joinHelp: "Keep the link: it opens your seat again, in any browser.",
  joinedGames: "Games you joined",
  forget: "Forget",
  linksTitle: "Links for the others",
  linksLocal:
    "These links work on this machine only. For others, open this page at the address that the server prints with --host 0.0.0.0.",
  linksHelp: "Who has the link of a seat plays it, in any browser. Spectators see no rack before the end.",
  /** @param {number} seat @param {string} name @param {boolean} absent */
  linkOf: (seat, name, absent) =>
    absent ? `Seat ${seat + 1}: nobody has joined yet` : `Seat ${seat + 1}: ${name} has joined`,
  linkOfSpectators: "For spectators",
  copy: "Copy",
  copied: "The link is selected and copied.",
  newLink: "New link",
  /** @param {string} who the words for the link */
  sureToRenew: (who) => `${who}: the old link will open nothing any more.`,
  yesRenew: "Make a new link",
  keepLink: "Keep the old one",
  inviteSpectators: "Make a link for spectators",
  personByLink: "a person, by a link",
  byLinkHelp: "You get a link to send. Whoever opens it plays this seat.",
  clockTitle: "Clock",
  clockMinutes: "Minutes for each person",
  clockSeconds: "Seconds added after each turn",
  clockHelp: "A clock for people, for example 10 minutes and 10 seconds. Who runs out of time has lost.",
  noClock: "no clock",
  /** @param {number} seconds */
  clock: (seconds) => {
    const whole = Math.ceil(seconds);
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  },
  resign: "Resign",
  /** @param {string} name */
  sureToResign: (name) => (name === YOU ? "Yes, I resign" : `Yes, ${name} resigns`),
  playOn: "No, play on",
  askTakeBack: "Ask to take back",
  askNoMore: "Ask no more",
  /** @param {string} name */
  wantsToTakeBack: (name) => `${name} would like to take the last decision back.`,
  /** @param {string[]} names */
  waitsForConsent: (names) => `Asked to take back: waiting for ${names.join(", ")}.`,
  agree: "Agree",
  refuse: "Refuse",
  /** Why people have left a game. @type {Record<"resigned" | "time", (name: string) => string>} */
  hasLeft: {
    resigned: (name) => `${name} resigned.`,
    time: (name) => `${name} ran out of time.`,
  },

  // The end of a game
  result: "Result",
  place: "Place",
  who: "Who",
  markers: "Markers, lowest first",
  /**
   * Why tracks rank as they do; null for the server's own sentences, in English.
   * @type {((reason: import("../api_types.js").RankReason, nameOf: (track: number) => string) => string) | null}
   */
  reason: null,
  /** @type {Record<string, string>} by the words of records; without an entry these are shown */
  ends: {},
  /** @param {string} how @param {number} seed */
  ended: (how, seed) => `Ended: ${how}. Seed ${seed}.`,
  reviewGame: "Review this game",
  download: "Download the record",
  /** @param {number} marker */
  soloResult: (marker) => `Lowest marker: ${marker}`,
  /** @param {string} names */
  shared: (names) => `${names} share the first place`,
  /** @param {string} name @param {boolean} several */
  winner: (name, several) => `${name} ${several || name === YOU ? "win" : "wins"}!`,

  // Recorded games
  reviewTitle: "Review · Génial!",
  openerTitle: "Open a record",
  openerHelp: "Open a game record (.jsonl): choose a file, or drop it here ",
  tooLarge: "Expected a file of at most 5 MB, found a larger one.",
  /** @param {number} line @param {string} fault */
  faultyLine: (line, fault) => `Line ${line}: ${fault}`,
  /** @param {number} games */
  gameCount: (games) => count(games, { one: "# game ", other: "# games " }),
  showGame: "Show this game",
  /** @param {number} games */
  moreGames: (games) =>
    count(games, { one: "# further game is not listed.", other: "# further games are not listed." }),
  /** @param {number} line */
  cannotShow: (line) => `line ${line}: cannot be shown`,
  /** @param {number} line @param {string[]} names @param {number[]} lowest @param {string} end */
  recordTitle: (line, names, lowest, end) => `line ${line}: ${names.join(", ")} (lowest ${lowest.join(" : ")}; ${end})`,
  recordBoard: "Board of the recorded game",
  step: "Step",
  play: "Play",
  pause: "Pause",
  steps: {
    start: ["Start", "key Home"],
    back: ["Back", "left arrow key"],
    next: ["Next", "right arrow key"],
    end: ["End", "key End"],
  },
  decisionList: "Decisions",
  /** @param {string[]} names @param {string} rules */
  deal: (names, rules) => `The deal. ${names.join(", ")}; ${rules}.`,
  /** @param {number} at @param {number} last @param {string[]} sentences */
  stepWords: (at, last, sentences) => `${at} of ${last}: ${sentences.join(". ")}.`,

  // Reviews
  review: "Review",
  reviewing: "The game is being reviewed …",
  /** @param {number} done @param {number} of */
  reviewProgress: (done, of) => `Reviewed ${done} of ${of} decisions …`,
  reviewDone: "The review is done.",
  level: "Level",
  /** @type {Record<string, string>} by level */
  levels: { fast: "fast: predictions", normal: "normal: seconds", deep: "deep: about a minute" },
  /** @type {Record<string, string>} by level, within a sentence */
  levelNames: { fast: "fast", normal: "normal", deep: "deep" },
  racks: "Racks",
  /** @type {Record<"hidden" | "open", string>} */
  rackModes: { hidden: "as the seats saw them", open: "open: all racks known" },
  cancel: "Cancel",
  cancelled: "The review was cancelled.",
  /** @param {string} level @param {boolean} solo @param {boolean} open */
  reviewHelp: (level, solo, open) => {
    const value = solo ? "the expected lowest marker at the end" : "the expected rank, from −1 (last) to +1 (first)";
    const known = open
      ? "with all racks open, also those that were hidden then: a loss need not be a mistake"
      : "by what the seat could know then";
    return (
      `Every decision was judged ${known} (level ${level}). ` +
      `The value of a decision is ${value}; loss is what the best decision would have added, with its standard error.`
    );
  },
  /** @param {string} name @param {number | null} accuracy in percent @param {number | null} loss */
  accuracy: (name, accuracy, loss) =>
    accuracy === null || loss === null
      ? `${name}: no decisions`
      : `${name}: accuracy ${percent(accuracy / 100)}, loses ${number(loss, 3)} a decision on average`,
  luckTitle: "Luck of the draws",
  luckHelp:
    "Luck is what the drawn tiles added to the result, compared with the mean of all tiles that could have come. " +
    "The network that measures it sees all racks.",
  /** @param {string} name @param {number} result @param {number} luck @param {number} adjusted */
  luckOfTrack: (name, result, luck, adjusted) =>
    `${name}: result ${signed(result, 2)}, of it luck ${signed(luck, 2)}, without luck ${signed(adjusted, 2)}`,
  /** @param {string} name @param {string[]} tiles @param {number} luck */
  luckOfDraw: (name, tiles, luck) => `${name} drew ${tiles.join(", ")}: luck ${signed(luck, 2)}`,
  worstTitle: "Blunders and mistakes",
  none: "None.",
  /** @type {Record<Verdict, string>} */
  verdicts: { best: "best", good: "good", inaccuracy: "inaccuracy", mistake: "mistake", blunder: "blunder" },
  /** @param {number} at its number @param {string} done what was done @param {string} verdict @param {number} loss */
  badDecision: (at, done, verdict, loss) => `${at}. ${done} – ${verdict}, loss ${number(loss, 2)}`,
  /** @param {number} value @param {boolean} solo */
  worth: (value, solo) => (solo ? `expected lowest marker ${number(value, 1)}` : `worth ${signed(value, 2)}`),
  /** @param {string} verdict @param {string[]} worth of the decision and of the best @param {number} loss @param {number | null} error */
  judgement: (verdict, [worth, best], loss, error) =>
    ` ${verdict}: ${worth}, the best decision ${best}, loss ${number(loss, 2)}` +
    (error ? ` ± ${number(error, 2)}` : ""),
  instead: "Better decisions",
  showAfter: "Show what it led to",
  showBefore: "Show the decision",
  /** @param {string} action @param {string} worth */
  otherAction: (action, worth) => `${action}: ${worth}`,
  /** @param {string} where @param {string} points @param {string} worth */
  otherPlacement: (where, points, worth) => `${where}: ${points}; ${worth}`,

  // The chart of a review
  expectedLowest: "Expected lowest marker",
  winChance: "Chance of the first place",
  /** @param {string} title */
  chartLabel: (title) => `${title} by decision; the table below has the numbers`,
  /** @param {number} decisions */
  chartAxis: (decisions) => `decision 1 to ${decisions}`,
  asTable: "As a table",
  /** @param {string} value */
  tableHead: (value) => ["No.", "Who", value, "Verdict", "Loss"],

  // The rules and the introduction
  rulesPage: "Rules",
  introduction: "Introduction",
  tryIntroduction: "Introduction in two minutes",
  /** @param {string} name of a language */
  rulesIn: (name) => `The rules are not there in your language; here they are in ${name}.`,
  /** @param {number} at @param {number} of @param {string} title */
  lessonTitle: (at, of, title) => `${at} of ${of}: ${title}`,
  /** @type {Record<"score" | "bonus" | "lowest" | "swap", (facts: Facts) => Lesson>} */
  lessons: {
    score: ({ enough }) => ({
      title: "Lay a tile",
      task: `Take the tile below the board and move it over the board. The lines show which symbols its halves count. Lay it where it scores at least ${enough} points.`,
      again: "There are better places: beside two symbols of the same color in a row.",
      done: "Each half counts the symbols of its color in straight lines that begin at it, printed ones too. Your markers have moved by these points.",
    }),
    bonus: ({ red, stop }) => ({
      title: "Earn a bonus turn",
      task: `A marker that arrives at ${stop} earns a bonus turn. Take a tile with a ${red}, and bring your red marker to ${stop}.`,
      again: `The red marker has not arrived at ${stop}. Lay the ${red} in line with two red symbols.`,
      more: `The red marker has arrived at ${stop}: a bonus turn! Lay one more tile, anywhere.`,
      done: "After your last tile you draw until you have six again. Then the next player plays.",
    }),
    lowest: ({ lowest: [own, other] }) => ({
      title: "The lowest marker decides",
      task: "This game is over. Not the sum counts, but the lowest marker of each player. Who has won?",
      again: "Look at the lowest marker of each player, whatever its color.",
      done: `The lowest markers are compared: ${Math.max(own, other)} beats ${Math.min(own, other)}. If they are equal, the second lowest decide, and so on. So advance all colors together.`,
    }),
    swap: ({ lowestColor }) => ({
      title: "Swap",
      task: `Your turn is over, and your lowest color is the ${lowestColor}. No tile of your rack has it: before you draw, you may swap all tiles. Swap them.`,
      done: "You have six new tiles; the old ones went back into the bag. All players saw them.",
    }),
  },
  lessonsEnd: "A game ends when no tile fits any more, or as soon as somebody has all markers at the end. The rules page has the rest: the first tile, teams, solo.",
  // The analysis board
  analysisPage: "Analyse",
  analysisTitle: "Analysis · Génial!",
  firstPosition: "The first position",
  variations: "Moves tried",
  removeMove: "Remove",
  position: "Position",
  positionText: "The position as text",
  usePosition: "Use this text",
  copyPosition: "Copy",
  dealRacks: "Deal the hidden racks",
  racksDealt: "hidden racks dealt at random",
  /** @param {string} name */
  hiddenRack: (name) => `${name} is to play, and the rack is hidden: deal it, or go back.`,
  editPosition: "Edit the position",
  editing: "Edit the position: choose a color, then click cells.",
  editHelp:
    "Choose a color and click cells. Racks are tiles such as RG BB, or a number of hidden tiles. The bag gets the rest of the tiles.",
  paintWith: "Paint with",
  eraser: "free cell",
  /** @param {string} name */
  rackOf: (name) => `Rack: ${name}`,
  /** @param {string[]} names */
  markersOf: (names) => `Markers: ${list(names)}`,
  /** @param {string} name @param {string} color */
  markerOf: (name, color) => `Marker ${color}: ${name}`,
  whoIsToPlay: "To play",
  decision: "Decision",
  /** @type {Record<string, string>} */
  phases: { place: "lay a tile", bonus: "lay a bonus tile", swap: "swap or keep the rack" },
  useEdit: "Use this position",
  clearBoard: "Clear the board",
  newDeal: "New deal",
  saveAnalysis: "Save",
  saved: "Saved in this browser.",
  notSaved: "This browser keeps nothing for this page.",
  savedAnalyses: "Saved analyses",
  nothingSaved: "None yet. They are kept in this browser.",
  /** @param {string} when @param {number} seats @param {string} lowest */
  analysisName: (when, seats, lowest) => `${when}: ${seats} seats, lowest ${lowest}`,
  opponent: "Opponent",
  playFrom: "Play on",
  stopPlaying: "End the game",
  /** @param {string} seat */
  youPlay: (seat) => `You play as ${seat}; the agent’s racks are hidden.`,
  bestMoves: "Best moves",
  noJudging: "off",
  /** @param {string} level */
  judging: (level) => `The judge is at work (${level}) …`,
  /** @param {number} judged @param {string} level @param {boolean} exact */
  judgedMoves: (judged, level, exact) =>
    (exact
      ? `${judged} moves, exact values: the endgame was solved.`
      : `${judged} moves judged (${level}); ± is the standard error of the distance to the best.`) +
    " A click shows a move, a double click plays it.",
  /** @param {number} utility @param {number | null} win @param {number | null} error @param {boolean} solo */
  judgedWorth: (utility, win, error, solo) => {
    const value = solo ? number(utility, 1) : signed(utility, 2);
    return `${value}${error ? ` ± ${number(error, 2)}` : ""}${win === null ? "" : ` (${percent(win)} first)`}`;
  },

  // Lessons
  lessonsPage: "Lessons",
  lessonsTitle: "Lessons · Génial!",
  allThemes: "all themes",
  /** @type {Record<string, string>} by kind of puzzle */
  puzzleThemes: {
    endgame: "the last tile",
    "immediate win": "win in this turn",
    "double bonus": "two bonuses with one tile",
    swap: "swap or keep",
    opening: "opening",
    "middle game": "middle game",
    "late game": "late game",
  },
  /** @param {number} kept */
  ownGames: (kept) => `your own mistakes (${kept})`,
  /** @type {(kind: string) => string} */
  puzzleTask: (kind) => (kind === "swap" ? "Swap the rack, or keep it?" : "Find the best move."),
  findBetter: "Find a better move.",
  puzzleHelp: "One move is better than all others. The first try counts for your rating.",
  findBetterHelp: "The judge says how good your move is.",
  /** @param {number} rating @param {number} range @param {number} solved @param {number} tries */
  yourRating: (rating, range, solved, tries) => `Your rating: ${number(rating)} ± ${range} (${solved} of ${tries} solved)`,
  /** @param {string} theme @param {number} rating */
  puzzleAbout: (theme, rating) => `This puzzle: ${theme}, rating ${number(rating)}. Greedy has 0, as on the start page.`,
  checking: "Checking …",
  solved: "Solved!",
  /** @param {number | null} lost null if it was not measured @param {boolean} solo */
  notSolved: (lost, solo) => {
    const unit = solo ? "of the expected lowest marker" : "of the expected rank, which goes from −1 to +1";
    return lost === null ? "Not the best." : `Not the best: it loses ${number(lost, 2)} ${unit}.`;
  },
  /** @param {number} rating @param {number} change */
  ratedTry: (rating, change) => `Your rating is ${number(rating)} (${signed(change, 0)}).`,
  notRated: "A later try does not count.",
  /** @param {number} equal */
  bestCount: (equal) => count(equal, { one: "It is the only best decision.", other: "# decisions are equally good." }),
  /**
   * @param {string} proof in English
   * @param {Proved | null} proved the same as data; null if its form is not known
   */
  proof: (proof, proved) => `${proved?.code === "rollouts" ? "Why" : "Proof"}: ${proof}`,
  /** @param {string} verdict @param {number} loss @param {number | null} error */
  verdictOn: (verdict, loss, error) =>
    `Your move: ${verdict}, loss ${number(loss, 2)}${error ? ` ± ${number(error, 2)}` : ""}.`,
  showAnswer: "Show the answer",
  bestAnswer: "Best",
  nextPuzzle: "Next",
  analyse: "Analyse",
  noOwnPuzzles: "There are none yet. Review a game, and keep its mistakes as puzzles.",
  nextMistake: "Next mistake",
  nextMistakeKey: "key N",
  keepMistakes: "Keep my mistakes as puzzles",
  /** @param {number} kept */
  mistakesKept: (kept) => count(kept, { one: "# new puzzle among your lessons.", other: "# new puzzles among your lessons." }),
  reviewAtEnd: "The game can be reviewed when it is over.",
  badAddress: "The address holds no game record: it was cut off, or changed.",
  lookBack: "Step through this game",

  // Sharing
  share: "Share",
  copyLink: "Copy a link",
  linkCopied: "Copied.",
  copyByHand: "Copy this:",
  making: "One moment …",
  savePicture: "Picture (PNG)",
  saveFilm: "Film (GIF)",
  saveRecord: "Game record",
  savePage: "Page with the replay",
  copyEmbed: "Copy a tag for web pages",
  /** @type {[string, string, string, string]} */
  replayLabels: ["Back", "Next", "Play", "Step"],
};

/** @typedef {typeof words} Words */
