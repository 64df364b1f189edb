// Die Wörter der Seite auf Deutsch.

import { createFormats } from "./formats.js";

/** @import { Letter, Mode, Size } from "../api_types.js" */

const YOU = "Sie"; // die einzige Person
const { number, signed, percent, list, date, count } = createFormats("de");

/** @type {Record<Letter, string>} */
const colors = { R: "Rot", G: "Grün", B: "Blau", O: "Orange", Y: "Gelb", P: "Violett" };

/** @type {Record<Letter, Record<string, string>>} */
const adjectives = {
  R: { m: "roter", f: "rote" },
  G: { m: "grüner", f: "grüne" },
  B: { m: "blauer", f: "blaue" },
  O: { m: "oranger", f: "orange" },
  Y: { m: "gelber", f: "gelbe" },
  P: { m: "violetter", f: "violette" },
};

/** @type {Record<string, [string, "m" | "f"]>} */
const shapes = {
  star: ["Stern", "m"],
  disc: ["Kreis", "m"],
  snowflake: ["Schneeflocke", "f"],
  diamond: ["Raute", "f"],
  sun: ["Sonne", "f"],
  ring: ["Ring", "m"],
};

/** @type {Record<Mode, (players: number) => string>} */
const modes = {
  individual: (players) => `${players} Spieler`,
  team: () => "zwei Teams",
  solo: () => "allein",
};

/** @type {Record<Size, (value: number) => string>} */
const sizes = {
  side: (value) => count(value, { one: "# Feld je Kante", other: "# Felder je Kante" }),
  colors: (value) => count(value, { one: "# Farbe", other: "# Farben" }),
  rack: (value) => count(value, { one: "# Stein auf der Bank", other: "# Steine auf der Bank" }),
  tile_sets: (value) => count(value, { one: "# Schachtel Steine", other: "# Schachteln Steine" }),
};

/** @type {Record<Size, string>} */
const sizeNames = {
  side: "Felder je Kante",
  colors: "Farben",
  rack: "Steine auf der Bank",
  tile_sets: "Schachteln mit Steinen",
};

/** @type {Record<string, string>} */
const editions = { 2025: "2025 (IELLO)", 2009: "2009 (Filosofia)", 2004: "2004 (Kosmos)" };

const ranks = ["", "zweit", "dritt", "viert", "fünft", "sechst"];

/** Das Verb zum Namen. @param {string} name @param {string} third @param {string} second */
const verb = (name, third, second) => (name === YOU ? second : third);

/** @param {string} name */
const turnOf = (name) => (name === YOU ? "Sie sind am Zug" : `${name} ist am Zug`);

/** @type {import("./en.js").Words} */
export const words = {
  title: "Génial!",
  pages: "Seiten",
  playPage: "Spielen",
  reviewPage: "Analyse",
  settings: "Einstellungen",
  language: "Sprache",
  theme: "Aussehen",
  themes: { "": "wie das System", light: "hell", dark: "dunkel" },
  sounds: "Töne",

  // Zahlen
  number,
  percent,
  labelled: (label, what) => `${label}: ${what}`,

  // Fehler
  errors: {
    impossible_position: ({ reason }) => `Diese Stellung ist nicht möglich: ${reason}`,
    nothing_to_judge: () => "Diese Stellung kann nicht beurteilt werden: Das Spiel ist zu Ende, oder die Bank ist verdeckt.",
    no_such_puzzle: () => "Diese Aufgabe gibt es nicht.",
    no_pictures: () => "Dieser Server kann keine Bilder zeichnen.",
    rack_not_dealt: ({ seat }) => `Die Bank von Platz ${seat + 1} ist verdeckt: Geben Sie ihr zuerst Steine.`,
    broken_game: ({ reason }) => `Dieses Spiel kann nicht weitergehen: ${reason}`,
    cancelled: () => "Abgebrochen: Das Spiel ist weitergegangen oder entfernt, oder der Server hört auf.",
    cannot_review: ({ reason }) => `Dieses Spiel kann nicht analysiert werden: ${reason}`,
    empty_file: () => "Die Datei ist leer; erwartet werden Spiele, ein JSON-Objekt je Zeile.",
    foreign_host: () => "Dieser Server antwortet nur unter seinen eigenen Adressen.",
    foreign_page: () => "Dieser Server nimmt Änderungen nur von seiner eigenen Seite an.",
    game_has_gone_on: () => "Das Spiel ist inzwischen weitergegangen, vielleicht in einem anderen Fenster: So steht es jetzt.",
    game_over: () => "Das Spiel ist zu Ende.",
    hint_of_another: () => "Ein Tipp ist für die Person, die am Zug ist.",
    illegal_action: ({ reason }) => `Dieser Zug ist nicht erlaubt: ${reason}`,
    internal_error: () => "Im Server ist ein Fehler aufgetreten; sein Protokoll sagt, welcher.",
    invalid_record: ({ reason }) => `Das ist kein gültiges Spiel: ${reason}`,
    invalid_request: ({ field }) => `Die Anfrage ist nicht gültig${field ? ` (${field})` : ""}.`,
    invalid_rules: ({ reason }) => `Nach diesen Regeln kann nicht gespielt werden: ${reason}`,
    links_are_the_hosts: () => "Links macht nur, wer das Spiel begonnen hat.",
    no_agent_to_play: () => "Es ist kein Programm am Zug.",
    no_hints_in_shared_games: () => "Es gibt keine Tipps, wenn andere aus der Ferne mitspielen.",
    no_judge: () => "Für diese Regeln gibt es keine Tipps.",
    no_person_to_play: () => "Es ist keine Person am Zug.",
    no_seat_to_join: () => "Das ist für Leute mit dem Link eines Platzes.",
    no_session: () => "Die Seite hat hier keine Sitzung: Laden Sie sie neu.",
    no_such_game: () => "Dieses Spiel gibt es nicht, oder es gehört einem anderen Browser.",
    no_such_link: () => "Dieser Link führt zu keinem Spiel: Es wurde entfernt, der Link wurde durch einen neuen ersetzt, oder er ist unvollständig.",
    no_such_page: () => "Diese Seite gibt es hier nicht.",
    nobody_to_agree: () => "Es spielt niemand sonst, der einer Zurücknahme zustimmen könnte.",
    not_invited: () => "Dieser Server ist für Eingeladene: geben Sie den Code ein, den er beim Start ausgegeben hat.",
    not_removed: ({ reason }) => `Der Server kann das Spiel nicht entfernen: ${reason}`,
    not_saved: ({ reason }) => `Der Server kann das Spiel nicht speichern: ${reason}`,
    nothing_to_take_back: () => "Sie haben noch nichts gespielt, was Sie zurücknehmen könnten.",
    rack_hidden: ({ seat }) => `Die Bank von Platz ${seat + 1} darf jetzt nicht gezeigt werden.`,
    record_not_yet: () => "Die Aufzeichnung nennt die Steine aller Bänke: Es gibt sie, wenn das Spiel zu Ende ist.",
    review_failed: () => "Die Analyse ist gescheitert; das Protokoll des Servers sagt, warum.",
    review_in_progress: () => "Für Sie wird schon ein Spiel analysiert: Warten Sie, bis das fertig ist.",
    server_busy: () => "Der Server hat viel zu tun: Versuchen Sie es gleich noch einmal.",
    server_ending: () => "Der Server hört auf.",
    server_full: () => "Der Server hat so viele Spiele, wie er fasst: Versuchen Sie es an einem anderen Tag.",
    size_out_of_range: ({ size, low, high }) =>
      `${sizeNames[/** @type {Size} */ (size)]}: ${number(low)} bis ${number(high)}.`,
    spectators_only_look: () => "Zuschauer sehen nur zu.",
    too_large: ({ bytes }) => `Zu lang: höchstens ${number(bytes / 1000)} kB.`,
    too_many_games: ({ most }) => `Sie haben ${most} Spiele: Entfernen Sie eines, bevor Sie ein neues beginnen.`,
    turn_of_another: () => "Eine andere Person ist am Zug.",
    wrong_invitation: () => "Das ist nicht der Einladungscode dieses Servers.",
  },
  noAnswer: "Der Server antwortet nicht. Läuft „genial serve“ noch?",
  badStatus: (status) => `Der Server antwortet mit dem Status ${status}.`,
  pageError: "In dieser Seite ist ein Fehler aufgetreten.",
  toStart: "Zum Anfang",
  reload: "Neu laden",

  // Steine, Plätze und Regeln
  colorName: (letter) => colors[letter],
  color: (letter, shape) => {
    const [noun, gender] = shapes[shape] ?? [shape, "m"];
    return `${adjectives[letter][gender]} ${noun}`;
  },
  tile: (first, second) => (first === second ? `Doppelstein ${first}` : `${first} und ${second}`),
  list,
  seatName: ({ code, seat, name }) => {
    if (code === "you") return YOU;
    if (code === "seat") return `Platz ${seat + 1}`;
    return code === "name" ? name : `${name} (Platz ${seat + 1})`;
  },
  rules: (rules) => {
    const named = Object.entries(sizes).flatMap(([name, write]) => {
      const value = rules[/** @type {Size} */ (name)];
      return value === undefined ? [] : [write(value)];
    });
    if (rules.one_bonus_a_tile) named.push("ein Bonuszug je Stein");
    return [modes[rules.mode](rules.players), `Ausgabe ${rules.edition}`, ...named].join(", ");
  },
  free: "frei",
  startSymbol: (color) => `aufgedruckt: ${color}`,

  // Ereignisse
  placed: (name, tile, points) => `${name}: ${tile} – ${points}`, // ohne Verb, nach dem ein anderer Fall stände
  tileAt: ([first, second], [one, other]) =>
    first === second ? `Doppelstein ${first} auf ${one} und ${other}` : `${first} auf ${one}, ${second} auf ${other}`,
  arrival: (color, stop) => `${color} erreicht ${stop}`,
  bonusFor: (arrival) => `${arrival}: ein Bonuszug`,
  swapped: (name, tiles) => `${name} ${verb(name, "zeigt und tauscht", "zeigen und tauschen")}: ${tiles.join(", ")}`,
  drew: (name, tiles) => `${name} ${verb(name, "zieht", "ziehen")}: ${tiles.join(", ")}`,
  declined: (name) => `${name} ${verb(name, "verzichtet", "verzichten")} auf einen Bonuszug`,
  kept: (name) => `${name} ${verb(name, "behält", "behalten")} die Steine`,
  gained: (color, points) => `${color} +${points}`,
  noPoints: "keine Punkte",

  // Neben dem Spielplan
  largerCells: "Größere Felder",
  wholeBoard: "Ganzer Plan",
  toPlay: "am Zug",
  lowestCounts: "der niedrigste Wert zählt",
  lowest: (marker) => `niedrigster ${marker}`,
  rack: (name, tiles) => {
    const held =
      typeof tiles === "number"
        ? count(tiles, { one: "# Stein, verdeckt", other: "# Steine, verdeckt" })
        : tiles.join(", ") || "keine Steine";
    return `${name === null ? "" : `${name}, `}Bank: ${held}`;
  },
  bag: (tiles) => count(tiles, { one: "# Stein im Beutel", other: "# Steine im Beutel" }),
  noHintsInSharedGames: "keine Tipps, da andere aus der Ferne mitspielen",
  noJudge: "keine Tipps für dieses Spiel",
  unseen: (tiles) => `Noch nicht gesehene Steine (${number(tiles)})`,
  unseenHelp: "Im Beutel oder auf verdeckten Bänken.",
  unseenTile: (tiles, tile) => `${number(tiles)} × ${tile}`,

  // Der Anfang
  newGame: "Neues Spiel",
  seats: "Spieler",
  edition: "Ausgabe",
  mode: "Spielart",
  seatCount: (players) => (players === 1 ? "1 (allein)" : String(players)),
  editionTitle: (edition) => editions[edition] ?? edition,
  modeTitles: { individual: "jeder für sich", team: "zwei Teams zu zweit", solo: "allein" },
  variants: "Zufallszahl und Varianten",
  variantsHelp: "Dieselbe Zufallszahl bringt dieselben Steine. Was leer bleibt, ist wie gedruckt.",
  seed: "Zufallszahl",
  seedDrawn: "wird gewürfelt",
  asPrinted: "wie gedruckt",
  sizeTitles: {
    side: (low, high) => `${sizeNames.side} (${low} bis ${high})`,
    colors: (low, high) => `${sizeNames.colors} (${low} bis ${high})`,
    rack: (low, high) => `${sizeNames.rack} (${low} bis ${high})`,
    tile_sets: (low, high) => `${sizeNames.tile_sets} (${low} bis ${high})`,
  },
  oneBonusATile: "Nur ein Bonuszug je Stein",
  whoPlays: "Wer spielt",
  person: "eine Person",
  seat: (seat) => `Platz ${seat + 1}`,
  teamSeat: (seat, team) => `Platz ${seat + 1} (Team ${team + 1})`,
  name: "Name (wer mag)",
  nameOf: (seat) => `Name der Person auf Platz ${seat + 1}`,
  agent: (name, strength, rating) => {
    const value = rating === undefined ? "" : `, ${number(rating)}`;
    return strength === undefined ? name : `${name}: ${strength}${value}`;
  },
  ratingHelp: "Die Zahlen sind Elo-Werte: Wer 200 mehr hat, gewinnt etwa drei von vier Spielen. Greedy hat 0.",
  opponents: {
    random: { strength: "kein Können", about: "Legt irgendeinen Stein irgendwohin." },
    points: { strength: "Anfänger", about: "Nimmt die meisten Punkte, auch wenn sie keinen Wert erhöhen." },
    greedy: { strength: "Anfänger", about: "Nimmt die meisten Punkte, die zählen." },
    lexicographic: { strength: "Anfänger", about: "Achtet nur auf seine niedrigsten Werte." },
    concave: { strength: "Gelegenheitsspieler", about: "Nimmt Punkte, vor allem für seine niedrigen Werte." },
    denial: { strength: "gut", about: "Wie concave, und nimmt den anderen weg, was ihnen hilft." },
    search: { strength: "stark", about: "Probiert seine Züge in 1000 gedachten Spielen. Bewertet mit 300." },
    ismcts: { strength: "stark", about: "Sucht in einem Baum aus 1000 gedachten Spielen. Nicht bewertet." },
    ppo: { strength: "sehr stark", about: "Ein Netz, das beim Spielen gelernt hat; antwortet sofort." },
    value: { strength: "sehr stark", about: "Ein Netz, das den Ausgang vorhersagt; antwortet sofort." },
    value_search: { strength: "am stärksten", about: "Wie value, und probiert seine Züge in 1000 gedachten Spielen. Bewertet mit 100." },
  },
  formProblem: (message) => message,
  begin: "Beginnen",
  badSeed: "Die Zufallszahl muss eine ganze Zahl sein.",
  yourGames: "Ihre Spiele",
  noGames: "Noch keine. Spiele bleiben erhalten, auch wenn die Seite geschlossen oder der Server neu gestartet wird.",
  openRecord: "Eine Aufzeichnung öffnen",
  openRecordHelp: ", um sie Zug für Zug anzusehen und analysieren zu lassen.",
  brokenGame: (fault) => `Ein Spiel, das nicht weitergehen kann: ${fault}`,
  date,
  decisions: (turn) => count(turn, { one: "bisher # Zug", other: "bisher # Züge" }),
  remove: "Entfernen",
  sureToRemove: "Endgültig?",
  yesRemove: "Ja, entfernen",
  keepGame: "Behalten",
  removeBroken: "Das Spiel entfernen, das nicht weitergehen kann",
  removeGame: (names) => `Das Spiel ${names} entfernen`,

  // Ein Spiel
  boardHelp: "Spielplan. Pfeiltasten führen von Feld zu Feld, R dreht den Stein, Enter legt ihn, Esc nimmt ihn zurück.",
  movesSoFar: "Bisherige Züge",
  yourTurnTitle: "Sie sind am Zug · Génial!",
  gameOver: "Das Spiel ist zu Ende.",
  thinking: (name) => `${name} denkt nach …`,
  since: (seconds, { waits, compiling }) => {
    const time = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    if (compiling) return ` ${time} (übersetzt für diesen Rechner, einmalig)`;
    return ` ${time}${waits ? " (wartet: der Server hat viel zu tun)" : ""}`;
  },
  stopThinking: "Nachdenken abbrechen",
  stopped: (name) => `${name} wurde unterbrochen und ist weiter am Zug.`,
  thinkOn: "Weiter nachdenken lassen",
  otherAgent: "Ein anderes Programm",
  letPlay: "Mit diesem weiterspielen",
  turnOfAnother: (name, absent) => (absent ? `Es fehlen noch Mitspieler. ${name} ist am Zug.` : `${name} ist am Zug.`),
  turnToPlace: (name) => `${turnOf(name)}: einen Stein wählen und legen.`,
  turnToSwap: (name) =>
    `${turnOf(name)}: Keine der niedrigsten Farben ist auf der Bank. Alle Steine tauschen oder behalten?`,
  turnToPlaceBonus: (name, pending, arrivals) => {
    const whose = name === YOU ? "" : ` für ${name}`;
    const why = arrivals.length ? ` (${arrivals.join(", ")})` : "";
    const left = count(pending, { one: "noch # Bonuszug", other: "noch # Bonuszüge" });
    return `Bonuszug${whose}${why}! Noch einen Stein legen${pending > 1 ? `; ${left}` : ""}.`;
  },
  tryAgain: "Noch einmal versuchen",
  paused: (name) => `Pause: ${name} ist am Zug.`,
  goOn: "Weiter",
  stepOn: "Ein Zug",
  pace: "Tempo",
  paces: { slow: "langsam", normal: "normal", fast: "schnell" },
  handOver: (name) => `Geben Sie das Gerät weiter: ${name}.`,
  racksHidden: " Alle Bänke sind verdeckt.",
  showTiles: (name) => `Ich bin ${name}: meine Steine zeigen`,
  yourRack: "Ihre Bank",
  slot: (slot, tile) => `Stein ${slot + 1}: ${tile}`,
  swapAll: "Alle Steine tauschen",
  keep: "Behalten",
  hint: "Tipp",
  lay: "Legen",
  takeBack: "Zurücknehmen",
  rotate: "Drehen",
  declineBonus: "Auf den Bonuszug verzichten",
  keys: { hint: "H", lay: "Enter", takeBack: "Esc", rotate: "R" },
  inHand: (tile) => `${tile} in der Hand.`,
  chooseTile: "Wählen Sie zuerst einen Stein Ihrer Bank.",
  takenBack: "Zurückgenommen.",
  doesNotFit: "Der Stein passt hier nicht.",
  firstTile: "Ihr erster Stein muss neben einem aufgedruckten Symbol liegen, an dem noch kein Stein liegt.",
  preview: (where, halves, total, markers) => {
    const sum = count(total, { one: "# Punkt", other: "# Punkte" });
    return `${where}: ${halves.join(", ")} – ${[sum, ...markers].join("; ")}.`;
  },
  halfPoints: (color, points) => `${color} ${points}`,
  markerMove: (color, before, after, bonus) => `${color} ${before} → ${after}${bonus ? " – ein Bonuszug!" : ""}`,
  hintActions: {
    place: "diesen Stein legen",
    swap: "alle Steine tauschen",
    keep: "die Steine behalten",
    decline: "auf den Bonuszug verzichten",
  },
  hintWords: (action, utility, win) => {
    const value =
      win === null
        ? `ein niedrigster Wert von ${number(utility, 1)} am Ende`
        : `${percent(win)} Aussicht auf den ersten Platz (erwarteter Rang ${signed(utility, 2)}, von −1, letzter, bis +1, erster)`;
    return `Tipp: ${action} – ${value}.`;
  },

  // Menschen in mehreren Browsern
  invitationTitle: "Sie sind eingeladen",
  invitationHelp: "Dieser Server ist für Eingeladene. Der Gastgeber kennt den Code: der Server hat ihn beim Start ausgegeben.",
  invitationCode: "Einladungscode",
  enter: "Eintreten",
  joinTitle: "Einem Spiel beitreten",
  joinWords: (others, seat, rules) =>
    `Platz ${seat + 1} ist für Sie frei${others.length ? `, in einem Spiel mit ${list(others)}` : ""} (${rules}).`,
  yourName: "Ihr Name (wenn Sie mögen)",
  join: "Beitreten",
  joinHelp: "Bewahren Sie den Link auf: er öffnet Ihren Platz wieder, in jedem Browser.",
  joinedGames: "Spiele, denen Sie beigetreten sind",
  forget: "Vergessen",
  linksTitle: "Links für die anderen",
  linksLocal:
    "Diese Links gelten nur auf diesem Rechner. Öffnen Sie für andere diese Seite unter der Adresse, die der Server mit --host 0.0.0.0 ausgibt.",
  linksHelp: "Wer den Link eines Platzes hat, spielt dort, in jedem Browser. Zuschauer sehen bis zum Ende keine Steine.",
  linkOf: (seat, name, absent) =>
    absent ? `Platz ${seat + 1}: noch niemand beigetreten` : `Platz ${seat + 1}: ${name} ist beigetreten`,
  linkOfSpectators: "Für Zuschauer",
  copy: "Kopieren",
  copied: "Der Link ist markiert und kopiert.",
  newLink: "Neuer Link",
  sureToRenew: (who) => `${who}: Der alte Link führt dann zu nichts mehr.`,
  yesRenew: "Neuen Link machen",
  keepLink: "Den alten behalten",
  inviteSpectators: "Link für Zuschauer machen",
  personByLink: "eine Person, über einen Link",
  byLinkHelp: "Sie bekommen einen Link zum Verschicken. Wer ihn öffnet, spielt auf diesem Platz.",
  clockTitle: "Uhr",
  clockMinutes: "Minuten für jede Person",
  clockSeconds: "Sekunden mehr nach jedem Zug",
  clockHelp: "Eine Uhr für Menschen, zum Beispiel 10 Minuten und 10 Sekunden. Wer die Zeit überschreitet, hat verloren.",
  noClock: "ohne Uhr",
  clock: (seconds) => {
    const whole = Math.ceil(seconds);
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  },
  resign: "Aufgeben",
  sureToResign: (name) => (name === YOU ? "Ja, ich gebe auf" : `Ja, ${name} gibt auf`),
  playOn: "Nein, weiterspielen",
  askTakeBack: "Um Zurücknahme bitten",
  askNoMore: "Bitte zurückziehen",
  wantsToTakeBack: (name) => `${name} möchte den letzten Zug zurücknehmen.`,
  waitsForConsent: (names) => `Um Zurücknahme gebeten: Antwort von ${names.join(", ")} fehlt noch.`,
  agree: "Zustimmen",
  refuse: "Ablehnen",
  hasLeft: {
    resigned: (name) => `${name} hat aufgegeben.`,
    time: (name) => `${name} hat die Zeit überschritten.`,
  },

  // Das Ende eines Spiels
  result: "Ergebnis",
  place: "Platz",
  who: "Wer",
  markers: "Werte, vom niedrigsten an",
  reason: ({ code, tracks, markers, differing }, nameOf) => {
    const [first, second] = tracks.map(nameOf);
    const both = `${first} und ${second}`;
    if (code === "solo") return `${first}: niedrigster Wert ${markers[0]}, danach ${markers.slice(1).join(", ")}`;
    if (code === "all_at_top") return `${first}: alle Werte stehen auf ${markers[0]}`;
    if (code === "shared") return `${both} haben die gleichen Werte, ${markers.join(", ")}, und teilen sich den Platz`;
    const alike = markers.length ? `${both} haben beide ${markers.join(", ")}; ` : "";
    const compared = `${ranks[markers.length]}niedrigster Wert: ${differing[0]} gegen ${differing[1]}`;
    return `${alike}${compared}, ${first} vor ${second}`;
  },
  ends: {
    resignation: "Aufgabe",
    time: "Zeitüberschreitung",
    unfinished: "nicht zu Ende gespielt",
    "board full": "Spielplan voll",
    "all markers at the end": "alle Werte am Ende der Leiste",
  },
  ended: (how, seed) => `Ende: ${how}. Zufallszahl ${seed}.`,
  reviewGame: "Dieses Spiel analysieren",
  download: "Aufzeichnung herunterladen",
  soloResult: (marker) => `Niedrigster Wert: ${marker}`,
  shared: (names) => `Geteilter erster Platz: ${names}`,
  winner: (name, several) => `${name} ${several || name === YOU ? "gewinnen" : "gewinnt"}!`,

  // Aufgezeichnete Spiele
  reviewTitle: "Analyse · Génial!",
  openerTitle: "Eine Aufzeichnung öffnen",
  openerHelp: "Eine Aufzeichnung (.jsonl) öffnen: Wählen Sie eine Datei, oder legen Sie sie hier ab ",
  tooLarge: "Erwartet wird eine Datei von höchstens 5 MB; diese ist größer.",
  faultyLine: (line, fault) => `Zeile ${line}: ${fault}`,
  gameCount: (games) => count(games, { one: "# Spiel ", other: "# Spiele " }),
  showGame: "Dieses Spiel zeigen",
  moreGames: (games) =>
    count(games, { one: "# weiteres Spiel ist nicht aufgeführt.", other: "# weitere Spiele sind nicht aufgeführt." }),
  cannotShow: (line) => `Zeile ${line}: kann nicht gezeigt werden`,
  recordTitle: (line, names, lowest, end) =>
    `Zeile ${line}: ${names.join(", ")} (niedrigste ${lowest.join(" : ")}; ${end})`,
  recordBoard: "Spielplan des aufgezeichneten Spiels",
  step: "Zug",
  play: "Abspielen",
  pause: "Pause",
  steps: {
    start: ["Anfang", "Taste Pos1"],
    back: ["Zurück", "Pfeil nach links"],
    next: ["Weiter", "Pfeil nach rechts"],
    end: ["Ende", "Taste Ende"],
  },
  decisionList: "Züge",
  deal: (names, rules) => `Der Beginn. ${names.join(", ")}; ${rules}.`,
  stepWords: (at, last, sentences) => `${at} von ${last}: ${sentences.join(". ")}.`,

  // Analysen
  review: "Analyse",
  reviewing: "Das Spiel wird analysiert …",
  reviewProgress: (done, of) => `${done} von ${of} Zügen analysiert …`,
  reviewDone: "Die Analyse ist fertig.",
  level: "Stufe",
  levels: { fast: "schnell: Vorhersagen", normal: "normal: Sekunden", deep: "tief: etwa eine Minute" },
  levelNames: { fast: "schnell", normal: "normal", deep: "tief" },
  racks: "Bänke",
  rackModes: { hidden: "wie der Spieler sie sah", open: "offen: alle bekannt" },
  cancel: "Abbrechen",
  cancelled: "Die Analyse wurde abgebrochen.",
  reviewHelp: (level, solo, open) => {
    const value = solo ? "der erwartete niedrigste Wert am Ende" : "der erwartete Rang, von −1 (letzter) bis +1 (erster)";
    const known = open
      ? "mit allen Bänken offen, auch den damals verdeckten: ein Verlust muss kein Fehler sein"
      : "nach dem, was der Spieler damals wissen konnte";
    return (
      `Jeder Zug wurde beurteilt ${known} (Stufe ${level}). Der Wert eines Zuges ist ${value}; ` +
      "Verlust ist, was der beste Zug mehr gebracht hätte, mit seinem Standardfehler."
    );
  },
  accuracy: (name, accuracy, loss) =>
    accuracy === null || loss === null
      ? `${name}: keine Züge`
      : `${name}: Genauigkeit ${percent(accuracy / 100)}, mittlerer Verlust ${number(loss, 3)} je Zug`,
  luckTitle: "Glück beim Ziehen",
  luckHelp:
    "Glück ist, was die gezogenen Steine zum Ergebnis beigetragen haben, verglichen mit dem Mittel aller Steine, die " +
    "hätten kommen können. Das Netz, das es misst, sieht alle Bänke.",
  luckOfTrack: (name, result, luck, adjusted) =>
    `${name}: Ergebnis ${signed(result, 2)}, davon Glück ${signed(luck, 2)}, ohne Glück ${signed(adjusted, 2)}`,
  luckOfDraw: (name, tiles, luck) => `${name}, ${tiles.join(", ")}: Glück ${signed(luck, 2)}`,
  worstTitle: "Grobe Fehler und Fehler",
  none: "Keine.",
  verdicts: { best: "bester Zug", good: "guter Zug", inaccuracy: "Ungenauigkeit", mistake: "Fehler", blunder: "grober Fehler" },
  badDecision: (at, done, verdict, loss) => `${at}. ${done} – ${verdict}, Verlust ${number(loss, 2)}`,
  worth: (value, solo) => (solo ? `erwarteter niedrigster Wert ${number(value, 1)}` : `Wert ${signed(value, 2)}`),
  judgement: (verdict, [worth, best], loss, error) =>
    ` ${verdict}: ${worth}; der beste Zug: ${best}; Verlust ${number(loss, 2)}` +
    (error ? ` ± ${number(error, 2)}` : ""),
  instead: "Bessere Züge",
  showAfter: "Die Folge zeigen",
  showBefore: "Die Entscheidung zeigen",
  otherAction: (action, worth) => `${action}: ${worth}`,
  otherPlacement: (where, points, worth) => `${where}: ${points}; ${worth}`,

  // Das Diagramm einer Analyse
  expectedLowest: "Erwarteter niedrigster Wert",
  winChance: "Aussicht auf den ersten Platz",
  chartLabel: (title) => `${title}, Zug für Zug; die Tabelle darunter hat die Zahlen`,
  chartAxis: (decisions) => `Zug 1 bis ${decisions}`,
  asTable: "Als Tabelle",
  tableHead: (value) => ["Nr.", "Wer", value, "Urteil", "Verlust"],

  // The rules and the introduction
  rulesPage: "Regeln",
  introduction: "Einführung",
  tryIntroduction: "Einführung in zwei Minuten",
  rulesIn: (name) => `Die Regeln gibt es nicht in Ihrer Sprache; hier stehen sie in dieser: ${name}.`,
  lessonTitle: (at, of, title) => `${at} von ${of}: ${title}`,
  lessons: {
    score: ({ enough }) => ({
      title: "Einen Stein legen",
      task: `Nehmen Sie den Stein unter dem Plan und bewegen Sie ihn darüber. Die Linien zeigen, welche Symbole seine Hälften zählen. Legen Sie ihn dorthin, wo er mindestens ${enough} Punkte bringt.`,
      again: "Es gibt bessere Stellen: neben zwei Symbolen derselben Farbe in einer Reihe.",
      done: "Jede Hälfte zählt die Symbole ihrer Farbe, auch aufgedruckte, auf geraden Linien, die bei ihr beginnen. Um so viel sind Ihre Werte gestiegen.",
    }),
    bonus: ({ red, stop }) => ({
      title: "Ein Bonuszug",
      task: `Ein Wert, der ${stop} erreicht, bringt einen Bonuszug. Nehmen Sie einen Stein mit dem Symbol „${red}“ und bringen Sie Rot auf ${stop}.`,
      again: `Rot hat ${stop} nicht erreicht. Legen Sie die rote Hälfte in eine Reihe mit zwei roten Symbolen.`,
      more: `Rot hat ${stop} erreicht: ein Bonuszug! Legen Sie noch einen Stein, wohin Sie wollen.`,
      done: "Nach dem letzten Stein des Zuges zieht man, bis man wieder sechs hat. Dann ist der Nächste am Zug.",
    }),
    lowest: ({ lowest: [own, other] }) => ({
      title: "Der niedrigste Wert entscheidet",
      task: "Dieses Spiel ist zu Ende. Nicht die Summe zählt, sondern der niedrigste Wert jedes Spielers. Wer hat gewonnen?",
      again: "Sehen Sie auf den niedrigsten Wert jedes Spielers, gleich in welcher Farbe.",
      done: `Verglichen werden die niedrigsten Werte: ${Math.max(own, other)} schlägt ${Math.min(own, other)}. Sind sie gleich, entscheiden die zweitniedrigsten, und so weiter. Bringen Sie also alle Farben zusammen voran.`,
    }),
    swap: ({ lowestColor }) => ({
      title: "Tauschen",
      task: `Ihr Zug ist zu Ende, und Ihre niedrigste Farbe ist: ${lowestColor}. Kein Stein Ihrer Bank hat sie: Bevor Sie ziehen, dürfen Sie alle Steine tauschen. Tauschen Sie sie.`,
      done: "Sie haben sechs neue Steine; die alten sind wieder im Beutel. Alle haben sie gesehen.",
    }),
  },
  lessonsEnd: "Ein Spiel endet, wenn kein Stein mehr passt, oder sobald jemand alle Werte am Ende der Leiste hat. Die Seite mit den Regeln sagt den Rest: der erste Stein, Teams, allein spielen.",
  // Das Analysebrett
  analysisPage: "Brett",
  analysisTitle: "Analysebrett · Génial!",
  firstPosition: "Die erste Stellung",
  variations: "Versuchte Züge",
  removeMove: "Löschen",
  position: "Stellung",
  positionText: "Die Stellung als Text",
  usePosition: "Diesen Text verwenden",
  copyPosition: "Kopieren",
  dealRacks: "Verdeckte Steine ziehen",
  racksDealt: "verdeckte Steine zufällig gezogen",
  hiddenRack: (name) => `${name} ist am Zug, die Steine sind verdeckt: ziehen Sie sie, oder gehen Sie zurück.`,
  editPosition: "Stellung ändern",
  editing: "Stellung ändern: erst eine Farbe, dann Felder wählen.",
  editHelp:
    "Wählen Sie eine Farbe und klicken Sie auf Felder. Eine Bank besteht aus Steinen wie RG BB oder einer Zahl verdeckter Steine. Die übrigen Steine liegen im Beutel.",
  paintWith: "Farbe",
  eraser: "freies Feld",
  rackOf: (name) => `Bank: ${name}`,
  markersOf: (names) => `Werte: ${list(names)}`,
  markerOf: (name, color) => `Wert ${color}: ${name}`,
  whoIsToPlay: "Am Zug",
  decision: "Entscheidung",
  phases: { place: "einen Stein legen", bonus: "einen Stein im Bonuszug legen", swap: "tauschen oder behalten" },
  useEdit: "Diese Stellung verwenden",
  clearBoard: "Brett leeren",
  newDeal: "Neu ziehen",
  saveAnalysis: "Sichern",
  saved: "In diesem Browser gesichert.",
  notSaved: "Dieser Browser behält nichts für diese Seite.",
  savedAnalyses: "Gesicherte Analysen",
  nothingSaved: "Noch keine. Sie bleiben in diesem Browser.",
  analysisName: (when, seats, lowest) => `${when}: ${modes.individual(seats)}, niedrigster ${lowest}`,
  opponent: "Gegner",
  playFrom: "Weiterspielen",
  stopPlaying: "Spiel beenden",
  youPlay: (seat) => `Sie spielen für ${seat}; die Steine des Programms sind verdeckt.`,
  bestMoves: "Beste Züge",
  noJudging: "aus",
  judging: (level) => `Die Bewertung läuft (${level}) …`,
  judgedMoves: (judged, level, exact) =>
    (exact
      ? `${judged} Züge, exakte Werte: das Endspiel ist gelöst.`
      : `${judged} Züge bewertet (${level}); ± ist der Standardfehler des Abstands zum besten.`) +
    " Ein Klick zeigt einen Zug, ein Doppelklick spielt ihn.",
  judgedWorth: (utility, win, error, solo) => {
    const value = solo ? number(utility, 1) : signed(utility, 2);
    return `${value}${error ? ` ± ${number(error, 2)}` : ""}${win === null ? "" : ` (${percent(win)} Erster)`}`;
  },

  // Lektionen
  lessonsPage: "Lektionen",
  lessonsTitle: "Lektionen · Génial!",
  allThemes: "alle Themen",
  puzzleThemes: {
    endgame: "der letzte Stein",
    "immediate win": "in diesem Zug gewinnen",
    "double bonus": "zwei Bonuszüge mit einem Stein",
    swap: "tauschen oder behalten",
    opening: "Eröffnung",
    "middle game": "Mittelspiel",
    "late game": "spätes Spiel",
  },
  ownGames: (kept) => `eigene Fehler (${kept})`,
  puzzleTask: (kind) => (kind === "swap" ? "Steine tauschen oder behalten?" : "Finden Sie den besten Zug."),
  findBetter: "Finden Sie einen besseren Zug.",
  puzzleHelp: "Ein Zug ist besser als alle anderen. Der erste Versuch zählt für Ihre Wertung.",
  findBetterHelp: "Die Bewertung sagt, wie gut Ihr Zug ist.",
  yourRating: (rating, range, solved, tries) =>
    `Ihre Wertung: ${number(rating)} ± ${range} (${solved} von ${tries} gelöst)`,
  puzzleAbout: (theme, rating) => `Diese Aufgabe: ${theme}, Wertung ${number(rating)}. Greedy hat 0, wie beim Start.`,
  checking: "Wird geprüft …",
  solved: "Gelöst!",
  notSolved: (lost, solo) => {
    const unit = solo ? "beim erwarteten niedrigsten Wert" : "beim erwarteten Rang, der von −1 bis +1 geht";
    return lost === null ? "Nicht der beste." : `Nicht der beste: Er kostet ${number(lost, 2)} ${unit}.`;
  },
  ratedTry: (rating, change) => `Ihre Wertung ist ${number(rating)} (${signed(change, 0)}).`,
  notRated: "Ein weiterer Versuch zählt nicht.",
  bestCount: (equal) => count(equal, { one: "Es ist die einzige beste Wahl.", other: "# Möglichkeiten sind gleich gut." }),
  proof: (proof, proved) => {
    if (proved === null) return `Beweis (englisch): ${proof}`;
    const { left, unseen, legal, best, second, judged, deals, error } = proved.values;
    if (proved.code === "rollouts") {
      return (
        `Begründung: ${number(judged)} von ${number(legal)} erlaubten Zügen wurden in ${number(deals)} Verteilungen der verdeckten Steine weitergespielt. ` +
        `Der beste ist ${signed(best, 3)} wert, der nächste ${signed(second, 3)} (erwarteter Rang von −1 bis +1); der Standardfehler des Abstands ist ${number(error, 3)}.`
      );
    }
    const how = {
      solo: "jeder Zug und jeder Stein, der gezogen werden kann, bis zum Ende des Spiels",
      win: `der beste Gewinn in diesem Zug, was auch immer die anderen haben, und sonst alle Verteilungen von ${unseen} Steinen`,
      hands: `alle eigenen Zugfolgen, alle Bänke aus ${unseen} Steinen, die der Gegner haben kann, seine beste Antwort auf jede, alles, was gezogen werden kann, und der eigene letzte Stein`,
      replies: `alle eigenen Zugfolgen und die beste letzte Antwort des Nächsten bei allen Verteilungen von ${unseen} Steinen`,
    }[proved.code];
    const unit = proved.code === "solo" ? "niedrigster Wert" : "Rang von −1 bis +1";
    const placements = count(left, { one: "# Stein wird", other: "# Steine werden" });
    return (
      `Beweis: Höchstens ${placements} noch gelegt. Durchgerechnet wurden ${how}. ` +
      `Von ${number(legal)} erlaubten Zügen sind die besten ${signed(best, 2)} wert, die nächsten ${signed(second, 2)} (${unit}).`
    );
  },
  verdictOn: (verdict, loss, error) =>
    `Ihr Zug: ${verdict}, Verlust ${number(loss, 2)}${error ? ` ± ${number(error, 2)}` : ""}.`,
  showAnswer: "Antwort zeigen",
  bestAnswer: "Am besten",
  nextPuzzle: "Weiter",
  analyse: "Analysieren",
  noOwnPuzzles: "Noch keine. Lassen Sie ein Spiel auswerten und behalten Sie seine Fehler als Aufgaben.",
  nextMistake: "Nächster Fehler",
  nextMistakeKey: "Taste N",
  keepMistakes: "Meine Fehler als Aufgaben behalten",
  mistakesKept: (kept) =>
    count(kept, { one: "# neue Aufgabe bei Ihren Lektionen.", other: "# neue Aufgaben bei Ihren Lektionen." }),
  reviewAtEnd: "Das Spiel kann ausgewertet werden, wenn es zu Ende ist.",
  badAddress: "Die Adresse enthält kein Spiel: sie ist abgeschnitten oder verändert.",
  lookBack: "Dieses Spiel Schritt für Schritt",

  // Teilen
  share: "Teilen",
  copyLink: "Link kopieren",
  linkCopied: "Kopiert.",
  copyByHand: "Zum Kopieren:",
  making: "Einen Augenblick …",
  savePicture: "Bild (PNG)",
  saveFilm: "Film (GIF)",
  saveRecord: "Spielaufzeichnung",
  savePage: "Seite mit dem Spiel",
  copyEmbed: "Kennung für Webseiten kopieren",
  replayLabels: ["Zurück", "Weiter", "Abspielen", "Schritt"],
};
