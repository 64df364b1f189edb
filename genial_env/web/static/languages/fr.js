// Les mots de la page en français : ceux de docs/regles.md.

import { createFormats } from "./formats.js";

/** @import { Letter, Mode, Size } from "../api_types.js" */

const YOU = "Vous"; // la seule personne
const { number, signed, percent, list, date, count } = createFormats("fr");

/** @type {Record<Letter, string>} */
const colors = { R: "rouge", G: "vert", B: "bleu", O: "orange", Y: "jaune", P: "violet" };

/** @type {Record<string, string>} */
const shapes = {
  star: "étoile",
  disc: "disque",
  snowflake: "flocon",
  diamond: "losange",
  sun: "soleil",
  ring: "anneau",
};

/** @type {Record<Mode, (players: number) => string>} */
const modes = {
  individual: (players) => count(players, { one: "# joueur", other: "# joueurs" }),
  team: () => "en équipes",
  solo: () => "en solitaire",
};

/** @type {Record<Size, (value: number) => string>} */
const sizes = {
  side: (value) => count(value, { one: "# case par côté", other: "# cases par côté" }),
  colors: (value) => count(value, { one: "# couleur", other: "# couleurs" }),
  rack: (value) => count(value, { one: "# tuile par réserve", other: "# tuiles par réserve" }),
  tile_sets: (value) => count(value, { one: "# boîte de tuiles", other: "# boîtes de tuiles" }),
};

/** @type {Record<Size, string>} */
const sizeNames = {
  side: "Cases par côté",
  colors: "Couleurs",
  rack: "Tuiles par réserve",
  tile_sets: "Boîtes de tuiles",
};

/** @type {Record<string, string>} */
const editions = { 2025: "2025 (IELLO)", 2009: "2009 (Filosofia)", 2004: "2004 (Kosmos)" };

const ranks = ["", "deuxième ", "troisième ", "quatrième ", "cinquième ", "sixième "];

/** Accorder un verbe. @param {string} name @param {string} third @param {string} second */
const verb = (name, third, second) => (name === YOU ? second : third);

/** @param {string} name */
const turnOf = (name) => (name === YOU ? "À vous" : `${name}, à vous`);

/** @type {import("./en.js").Words} */
export const words = {
  title: "Génial!",
  pages: "Pages",
  playPage: "Jouer",
  reviewPage: "Analyser",
  settings: "Réglages",
  language: "Langue",
  theme: "Apparence",
  themes: { "": "comme le système", light: "claire", dark: "sombre" },
  sounds: "Sons",

  // Nombres
  number,
  percent,
  labelled: (label, what) => `${label} : ${what}`,

  // Erreurs
  errors: {
    impossible_position: ({ reason }) => `Cette position n’est pas possible : ${reason}`,
    nothing_to_judge: () => "Cette position ne peut pas être jugée : la partie est finie, ou la réserve du joueur est cachée.",
    no_such_puzzle: () => "Ce problème n’existe pas.",
    no_pictures: () => "Ce serveur ne peut pas dessiner d’images.",
    rack_not_dealt: ({ seat }) => `La réserve du joueur ${seat + 1} est cachée : donnez-lui d’abord des tuiles.`,
    broken_game: ({ reason }) => `Cette partie ne peut pas continuer : ${reason}`,
    cancelled: () => "Demande annulée : la partie a continué ou a été supprimée, ou le serveur s’arrête.",
    cannot_review: ({ reason }) => `Cette partie ne peut pas être analysée : ${reason}`,
    empty_file: () => "Le fichier est vide ; il devrait contenir des parties, un objet JSON par ligne.",
    foreign_host: () => "Ce serveur ne répond qu’à ses propres adresses.",
    foreign_page: () => "Ce serveur n’accepte de changements que de sa propre page.",
    game_has_gone_on: () =>
      "La partie a continué entre-temps, peut-être dans une autre fenêtre : voici où elle en est.",
    game_over: () => "La partie est finie.",
    hint_of_another: () => "Un conseil s’adresse à la personne dont c’est le tour.",
    illegal_action: ({ reason }) => `Ce coup n’est pas permis : ${reason}`,
    internal_error: () => "Une erreur s’est produite dans le serveur ; son journal dit laquelle.",
    invalid_record: ({ reason }) => `Ce n’est pas une partie valable : ${reason}`,
    invalid_request: ({ field }) => `La demande n’est pas valable${field ? ` (${field})` : ""}.`,
    invalid_rules: ({ reason }) => `On ne peut pas jouer avec ces règles : ${reason}`,
    links_are_the_hosts: () => "Seul celui qui a commencé la partie en fait les liens.",
    no_agent_to_play: () => "Ce n’est pas à un programme de jouer.",
    no_hints_in_shared_games: () => "Il n’y a pas de conseils quand d’autres jouent à distance.",
    no_judge: () => "Il n’y a pas de conseils pour ces règles.",
    no_person_to_play: () => "Ce n’est pas à une personne de jouer.",
    no_seat_to_join: () => "Ceci est pour qui a le lien d’une place.",
    no_session: () => "La page n’a pas de session sur ce serveur : rechargez-la.",
    no_such_game: () => "Cette partie n’existe pas, ou elle appartient à un autre navigateur.",
    no_such_link: () => "Ce lien ne mène à aucune partie : elle a été supprimée, un nouveau lien l’a remplacé, ou il n’est pas entier.",
    no_such_page: () => "Cette page n’existe pas.",
    nobody_to_agree: () => "Personne d’autre ne joue qui pourrait accepter une reprise.",
    not_invited: () => "Ce serveur est réservé aux invités : entrez le code qu’il a affiché au démarrage.",
    not_removed: ({ reason }) => `Le serveur ne peut pas supprimer la partie : ${reason}`,
    not_saved: ({ reason }) => `Le serveur ne peut pas enregistrer la partie : ${reason}`,
    nothing_to_take_back: () => "Vous n’avez encore rien joué que vous pourriez reprendre.",
    rack_hidden: ({ seat }) => `La réserve du joueur ${seat + 1} ne peut pas être montrée maintenant.`,
    record_not_yet: () => "La partie enregistrée dévoile toutes les réserves : elle est disponible à la fin.",
    review_failed: () => "L’analyse a échoué ; le journal du serveur dit pourquoi.",
    review_in_progress: () => "Une de vos parties est déjà en cours d’analyse : attendez qu’elle soit finie.",
    server_busy: () => "Le serveur est très occupé : réessayez dans un instant.",
    server_ending: () => "Le serveur s’arrête.",
    server_full: () => "Le serveur a autant de parties qu’il peut en avoir : réessayez un autre jour.",
    size_out_of_range: ({ size, low, high }) =>
      `${sizeNames[/** @type {Size} */ (size)]} : de ${number(low)} à ${number(high)}.`,
    spectators_only_look: () => "Les spectateurs ne font que regarder.",
    too_large: ({ bytes }) => `C’est trop long : ${number(bytes / 1000)} ko au plus.`,
    too_many_games: ({ most }) => `Vous avez ${most} parties : supprimez-en une avant d’en commencer une autre.`,
    turn_of_another: () => "C’est à une autre personne de jouer.",
    wrong_invitation: () => "Ce n’est pas le code d’invitation de ce serveur.",
  },
  noAnswer: "Le serveur ne répond pas. « genial serve » tourne-t-il encore ?",
  badStatus: (status) => `Le serveur répond par le code ${status}.`,
  pageError: "Une erreur s’est produite dans cette page.",
  toStart: "Retour au début",
  reload: "Recharger",

  // Tuiles, joueurs et règles
  colorName: (letter) => colors[letter],
  color: (letter, shape) => `${shapes[shape] ?? shape} ${colors[letter]}`,
  tile: (first, second) => (first === second ? `double ${first}` : `${first} et ${second}`),
  list,
  seatName: ({ code, seat, name }) => {
    if (code === "you") return YOU;
    if (code === "seat") return `Joueur ${seat + 1}`;
    return code === "name" ? name : `${name} (joueur ${seat + 1})`;
  },
  rules: (rules) => {
    const named = Object.entries(sizes).flatMap(([name, write]) => {
      const value = rules[/** @type {Size} */ (name)];
      return value === undefined ? [] : [write(value)];
    });
    if (rules.one_bonus_a_tile) named.push("une pose bonus par tuile");
    return [modes[rules.mode](rules.players), `livret de ${rules.edition}`, ...named].join(", ");
  },
  free: "libre",
  startSymbol: (color) => `symbole imprimé, ${color}`,

  // Événements
  placed: (name, tile, points) => `${name} ${verb(name, "pose", "posez")} ${tile} : ${points}`,
  tileAt: ([first, second], [one, other]) =>
    first === second ? `double ${first} en ${one} et ${other}` : `${first} en ${one}, ${second} en ${other}`,
  arrival: (color, stop) => `${color} arrive à ${stop}`,
  bonusFor: (arrival) => `${arrival} : une pose bonus`,
  swapped: (name, tiles) => `${name} ${verb(name, "montre et échange", "montrez et échangez")} ${tiles.join(", ")}`,
  drew: (name, tiles) => `${name} ${verb(name, "pioche", "piochez")} ${tiles.join(", ")}`,
  declined: (name) => `${name} ${verb(name, "renonce", "renoncez")} à une pose bonus`,
  kept: (name) => `${name} ${verb(name, "garde sa réserve", "gardez votre réserve")}`,
  gained: (color, points) => `${color} +${points}`,
  noPoints: "aucun point",

  // À côté du plateau
  largerCells: "Agrandir",
  wholeBoard: "Plateau entier",
  toPlay: "à jouer",
  lowestCounts: "c’est le marqueur le plus bas qui compte",
  lowest: (marker) => `au plus bas : ${marker}`,
  rack: (name, tiles) => {
    const held =
      typeof tiles === "number"
        ? count(tiles, { one: "# tuile, cachée", other: "# tuiles, cachées" })
        : tiles.join(", ") || "aucune tuile";
    return `${name === null ? "" : `${name}, `}réserve : ${held}`;
  },
  bag: (tiles) => count(tiles, { one: "# tuile dans le sac", other: "# tuiles dans le sac" }),
  noHintsInSharedGames: "pas de conseils, car d’autres jouent à distance",
  noJudge: "pas de conseils pour cette partie",
  unseen: (tiles) => `Tuiles pas encore vues (${number(tiles)})`,
  unseenHelp: "Dans le sac ou dans les réserves cachées.",
  unseenTile: (tiles, tile) => `${number(tiles)} × ${tile}`,

  // Le début
  newGame: "Nouvelle partie",
  seats: "Joueurs",
  edition: "Livret de règles",
  mode: "Mode",
  seatCount: (players) => (players === 1 ? "1 (en solitaire)" : String(players)),
  editionTitle: (edition) => editions[edition] ?? edition,
  modeTitles: { individual: "chacun pour soi", team: "deux équipes de deux", solo: "en solitaire" },
  variants: "Tirage et variantes",
  variantsHelp: "Un même numéro de tirage donne les mêmes tuiles. Ce qui reste vide est comme imprimé.",
  seed: "Numéro de tirage",
  seedDrawn: "au hasard",
  asPrinted: "comme imprimé",
  sizeTitles: {
    side: (low, high) => `${sizeNames.side} (${low} à ${high})`,
    colors: (low, high) => `${sizeNames.colors} (${low} à ${high})`,
    rack: (low, high) => `${sizeNames.rack} (${low} à ${high})`,
    tile_sets: (low, high) => `${sizeNames.tile_sets} (${low} à ${high})`,
  },
  oneBonusATile: "Une seule pose bonus par tuile",
  whoPlays: "Qui joue",
  person: "une personne",
  seat: (seat) => `Joueur ${seat + 1}`,
  teamSeat: (seat, team) => `Joueur ${seat + 1} (équipe ${team + 1})`,
  name: "nom (facultatif)",
  nameOf: (seat) => `Nom du joueur ${seat + 1}`,
  agent: (name, strength, rating) => {
    const value = rating === undefined ? "" : `, ${number(rating)}`;
    return strength === undefined ? name : `${name} : ${strength}${value}`;
  },
  ratingHelp: "Les nombres sont des classements Elo : 200 de plus, c’est environ trois parties gagnées sur quatre. Greedy a 0.",
  opponents: {
    random: { strength: "aucun niveau", about: "Pose n’importe quelle tuile n’importe où." },
    points: { strength: "débutant", about: "Prend le plus de points, même s’ils n’avancent aucun marqueur." },
    greedy: { strength: "débutant", about: "Prend le plus de points qui avancent un marqueur." },
    lexicographic: { strength: "débutant", about: "Ne s’occupe que de ses marqueurs les plus bas." },
    concave: { strength: "amateur", about: "Prend des points, surtout pour ses marqueurs bas." },
    denial: { strength: "bon", about: "Comme concave, et prend aux autres ce qui les aide." },
    search: { strength: "fort", about: "Essaie ses coups dans 1000 parties imaginées. Classé avec 300." },
    ismcts: { strength: "fort", about: "Explore un arbre de 1000 parties imaginées. Non classé." },
    ppo: { strength: "très fort", about: "Un réseau qui a appris en jouant ; répond aussitôt." },
    value: { strength: "très fort", about: "Un réseau qui prédit la fin de la partie ; répond aussitôt." },
    value_search: { strength: "le plus fort", about: "Comme value, et essaie ses coups dans 1000 parties imaginées. Classé avec 100." },
  },
  formProblem: (message) => message,
  begin: "Commencer",
  badSeed: "Le numéro de tirage doit être un nombre entier.",
  yourGames: "Vos parties",
  noGames: "Aucune pour l’instant. Les parties sont conservées, même si la page est fermée ou le serveur relancé.",
  openRecord: "Ouvrir une partie enregistrée",
  openRecordHelp: " pour la revoir coup par coup et la faire analyser.",
  brokenGame: (fault) => `Une partie qui ne peut pas continuer : ${fault}`,
  date,
  decisions: (turn) => count(turn, { one: "# coup joué", other: "# coups joués" }),
  remove: "Supprimer",
  sureToRemove: "Définitivement ?",
  yesRemove: "Oui, supprimer",
  keepGame: "Garder",
  removeBroken: "Supprimer la partie qui ne peut pas continuer",
  removeGame: (names) => `Supprimer la partie ${names}`,

  // Une partie
  boardHelp: "Plateau. Les flèches vont de case en case, R tourne la tuile, Entrée la pose, Échap la reprend.",
  movesSoFar: "Coups joués",
  yourTurnTitle: "À vous de jouer · Génial!",
  gameOver: "La partie est finie.",
  thinking: (name) => `${name} réfléchit…`,
  since: (seconds, { waits, compiling }) => {
    const time = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    if (compiling) return ` ${time} (compilation pour cette machine, une seule fois)`;
    return ` ${time}${waits ? " (en attente : le serveur est très occupé)" : ""}`;
  },
  stopThinking: "Arrêter la réflexion",
  stopped: (name) => `${name} a été arrêté : c’est toujours son tour.`,
  thinkOn: "Le laisser réfléchir encore",
  otherAgent: "Un autre programme",
  letPlay: "Continuer avec celui-ci",
  turnOfAnother: (name, absent) => (absent ? `En attente des autres. C’est à ${name} de jouer.` : `C’est à ${name} de jouer.`),
  turnToPlace: (name) => `${turnOf(name)} : choisissez une tuile et posez-la.`,
  turnToSwap: (name) =>
    `${turnOf(name)} : la réserve n’a aucune des couleurs les plus basses. Échanger toutes les tuiles, ou les garder ?`,
  turnToPlaceBonus: (name, pending, arrivals) => {
    const whose = name === YOU ? "" : ` pour ${name}`;
    const why = arrivals.length ? ` (${arrivals.join(", ")})` : "";
    const left = count(pending, { one: "encore # pose bonus", other: "encore # poses bonus" });
    return `Pose bonus${whose}${why} ! Une tuile de plus à poser${pending > 1 ? ` ; ${left}` : ""}.`;
  },
  tryAgain: "Réessayer",
  paused: (name) => `En pause : à ${name} de jouer.`,
  goOn: "Reprendre",
  stepOn: "Un coup",
  pace: "Vitesse",
  paces: { slow: "lente", normal: "normale", fast: "rapide" },
  handOver: (name) => `Passez l’appareil à ${name}.`,
  racksHidden: " Toutes les réserves sont cachées.",
  showTiles: (name) => `Je suis ${name} : montrer mes tuiles`,
  yourRack: "Votre réserve",
  slot: (slot, tile) => `Tuile ${slot + 1} : ${tile}`,
  swapAll: "Échanger toutes les tuiles",
  keep: "Les garder",
  hint: "Conseil",
  lay: "Poser",
  takeBack: "Reprendre",
  rotate: "Tourner",
  declineBonus: "Renoncer à la pose bonus",
  keys: { hint: "H", lay: "Entrée", takeBack: "Échap", rotate: "R" },
  inHand: (tile) => `${tile} en main.`,
  chooseTile: "Choisissez d’abord une tuile de votre réserve.",
  takenBack: "Tuile reprise.",
  doesNotFit: "La tuile ne peut pas être posée ici.",
  firstTile: "Votre première tuile doit être posée contre un symbole imprimé que ne touche encore aucune tuile.",
  preview: (where, halves, total, markers) => {
    const sum = count(total, { one: "# point", other: "# points" });
    return `${where} : ${halves.join(", ")} – ${[sum, ...markers].join(" ; ")}.`;
  },
  halfPoints: (color, points) => `${color} ${points}`,
  markerMove: (color, before, after, bonus) => `${color} ${before} → ${after}${bonus ? " – une pose bonus !" : ""}`,
  hintActions: {
    place: "poser cette tuile",
    swap: "échanger toutes les tuiles",
    keep: "garder les tuiles",
    decline: "renoncer à la pose bonus",
  },
  hintWords: (action, utility, win) => {
    const value =
      win === null
        ? `un marqueur le plus bas de ${number(utility, 1)} à la fin`
        : `${percent(win)} de chances d’être premier (rang espéré ${signed(utility, 2)}, de −1, dernier, à +1, premier)`;
    return `Conseil : ${action} – ${value}.`;
  },

  // Des personnes dans plusieurs navigateurs
  invitationTitle: "Vous êtes invité",
  invitationHelp: "Ce serveur est réservé aux invités. Son hôte connaît le code : le serveur l’a affiché au démarrage.",
  invitationCode: "Code d’invitation",
  enter: "Entrer",
  joinTitle: "Rejoindre une partie",
  joinWords: (others, seat, rules) =>
    `La place du joueur ${seat + 1} est libre pour vous${others.length ? `, dans une partie avec ${list(others)}` : ""} (${rules}).`,
  yourName: "Votre nom (si vous voulez)",
  join: "Rejoindre",
  joinHelp: "Gardez le lien : il rouvre votre place, dans n’importe quel navigateur.",
  joinedGames: "Parties que vous avez rejointes",
  forget: "Oublier",
  linksTitle: "Liens pour les autres",
  linksLocal:
    "Ces liens ne marchent que sur cette machine. Pour les autres, ouvrez cette page à l’adresse que le serveur affiche avec --host 0.0.0.0.",
  linksHelp: "Qui a le lien d’une place y joue, dans n’importe quel navigateur. Les spectateurs ne voient aucune réserve avant la fin.",
  linkOf: (seat, name, absent) =>
    absent ? `Joueur ${seat + 1} : personne n’a encore rejoint` : `Joueur ${seat + 1} : ${name} a rejoint`,
  linkOfSpectators: "Pour les spectateurs",
  copy: "Copier",
  copied: "Le lien est sélectionné et copié.",
  newLink: "Nouveau lien",
  sureToRenew: (who) => `${who} : l’ancien lien n’ouvrira plus rien.`,
  yesRenew: "Faire un nouveau lien",
  keepLink: "Garder l’ancien",
  inviteSpectators: "Faire un lien pour spectateurs",
  personByLink: "une personne, par un lien",
  byLinkHelp: "Vous recevez un lien à envoyer. Qui l’ouvre joue à cette place.",
  clockTitle: "Pendule",
  clockMinutes: "Minutes par personne",
  clockSeconds: "Secondes ajoutées après chaque tour",
  clockHelp: "Une pendule pour les personnes, par exemple 10 minutes et 10 secondes. Qui dépasse son temps a perdu.",
  noClock: "sans pendule",
  clock: (seconds) => {
    const whole = Math.ceil(seconds);
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  },
  resign: "Abandonner",
  sureToResign: (name) => (name === YOU ? "Oui, j’abandonne" : `Oui, ${name} abandonne`),
  playOn: "Non, continuer",
  askTakeBack: "Demander à reprendre le coup",
  askNoMore: "Retirer la demande",
  wantsToTakeBack: (name) => `${name} voudrait reprendre son dernier coup.`,
  waitsForConsent: (names) => `Reprise demandée : en attente de ${names.join(", ")}.`,
  agree: "Accepter",
  refuse: "Refuser",
  hasLeft: {
    resigned: (name) => `${name} a abandonné.`,
    time: (name) => `${name} a dépassé son temps.`,
  },

  // La fin d’une partie
  result: "Résultat",
  place: "Rang",
  who: "Joueur",
  markers: "Marqueurs, en partant du plus bas",
  reason: ({ code, tracks, markers, differing }, nameOf) => {
    const [first, second] = tracks.map(nameOf);
    const both = `${first} et ${second}`;
    if (code === "solo") return `${first} : ${markers[0]} au plus bas, puis ${markers.slice(1).join(", ")}`;
    if (code === "all_at_top") return `${first} : tous les marqueurs sont à ${markers[0]}`;
    if (code === "shared") return `${both} ont les mêmes marqueurs, ${markers.join(", ")}, et partagent leur rang`;
    const alike = markers.length ? `${both} ont tous deux ${markers.join(", ")} ; ` : "";
    const compared = `${ranks[markers.length]}marqueur le plus bas : ${differing[0]} contre ${differing[1]}`;
    return `${alike}${compared}, ${first} devant ${second}`;
  },
  ends: {
    resignation: "abandon",
    time: "temps écoulé",
    unfinished: "partie inachevée",
    "board full": "plateau plein",
    "all markers at the end": "tous les marqueurs au bout de la piste",
  },
  ended: (how, seed) => `Fin : ${how}. Numéro de tirage ${seed}.`,
  reviewGame: "Analyser cette partie",
  download: "Télécharger la partie",
  soloResult: (marker) => `Marqueur le plus bas : ${marker}`,
  shared: (names) => `${names} : premiers à égalité`,
  winner: (name, several) => {
    const plural = name.includes(YOU) ? "gagnez" : "gagnent";
    return `${name} ${several ? plural : verb(name, "gagne", "gagnez")} !`;
  },

  // Parties enregistrées
  reviewTitle: "Analyse · Génial!",
  openerTitle: "Ouvrir une partie",
  openerHelp: "Ouvrir une partie enregistrée (.jsonl) : choisissez un fichier, ou déposez-le ici ",
  tooLarge: "Le fichier doit faire au plus 5 Mo ; celui-ci est plus gros.",
  faultyLine: (line, fault) => `Ligne ${line} : ${fault}`,
  gameCount: (games) => count(games, { one: "# partie ", other: "# parties " }),
  showGame: "Montrer cette partie",
  moreGames: (games) =>
    count(games, { one: "# autre partie n’est pas listée.", other: "# autres parties ne sont pas listées." }),
  cannotShow: (line) => `ligne ${line} : ne peut pas être montrée`,
  recordTitle: (line, names, lowest, end) =>
    `ligne ${line} : ${names.join(", ")} (au plus bas ${lowest.join(" : ")} ; ${end})`,
  recordBoard: "Plateau de la partie enregistrée",
  step: "Coup",
  play: "Lecture",
  pause: "Pause",
  steps: {
    start: ["Début", "touche Début"],
    back: ["Précédent", "flèche gauche"],
    next: ["Suivant", "flèche droite"],
    end: ["Fin", "touche Fin"],
  },
  decisionList: "Coups",
  deal: (names, rules) => `La donne. ${names.join(", ")} ; ${rules}.`,
  stepWords: (at, last, sentences) => `${at} sur ${last} : ${sentences.join(". ")}.`,

  // Analyses
  review: "Analyse",
  reviewing: "Analyse de la partie en cours…",
  reviewProgress: (done, of) => `${done} coups analysés sur ${of}…`,
  reviewDone: "L’analyse est finie.",
  level: "Niveau",
  levels: {
    fast: "rapide : prédictions",
    normal: "normal : quelques secondes",
    deep: "approfondi : environ une minute",
  },
  levelNames: { fast: "rapide", normal: "normal", deep: "approfondi" },
  racks: "Réserves",
  rackModes: { hidden: "telles que les voyait le joueur", open: "ouvertes : toutes connues" },
  cancel: "Annuler",
  cancelled: "L’analyse a été annulée.",
  reviewHelp: (level, solo, open) => {
    const value = solo ? "le marqueur le plus bas espéré à la fin" : "le rang espéré, de −1 (dernier) à +1 (premier)";
    const known = open
      ? "toutes réserves ouvertes, même celles qui étaient cachées : une perte n’est pas forcément une erreur"
      : "selon ce que le joueur pouvait savoir alors";
    return (
      `Chaque coup est jugé ${known} (niveau ${level}). La valeur d’un coup est ${value} ; ` +
      "la perte est ce que le meilleur coup aurait ajouté, avec son erreur type."
    );
  },
  accuracy: (name, accuracy, loss) =>
    accuracy === null || loss === null
      ? `${name} : aucun coup`
      : `${name} : précision ${percent(accuracy / 100)}, perte moyenne de ${number(loss, 3)} par coup`,
  luckTitle: "La chance au tirage",
  luckHelp:
    "La chance est ce que les tuiles piochées ont ajouté au résultat, par rapport à la moyenne de toutes celles qui " +
    "pouvaient venir. Le réseau qui la mesure voit toutes les réserves.",
  luckOfTrack: (name, result, luck, adjusted) =>
    `${name} : résultat ${signed(result, 2)}, dont chance ${signed(luck, 2)}, sans la chance ${signed(adjusted, 2)}`,
  luckOfDraw: (name, tiles, luck) => `${name}, ${tiles.join(", ")} : chance ${signed(luck, 2)}`,
  worstTitle: "Gaffes et erreurs",
  none: "Aucune.",
  verdicts: { best: "meilleur coup", good: "bon coup", inaccuracy: "imprécision", mistake: "erreur", blunder: "gaffe" },
  badDecision: (at, done, verdict, loss) => `${at}. ${done} – ${verdict}, perte ${number(loss, 2)}`,
  worth: (value, solo) =>
    solo ? `marqueur le plus bas espéré ${number(value, 1)}` : `valeur ${signed(value, 2)}`,
  judgement: (verdict, [worth, best], loss, error) =>
    ` ${verdict} : ${worth} ; le meilleur coup : ${best} ; perte ${number(loss, 2)}` +
    (error ? ` ± ${number(error, 2)}` : ""),
  instead: "Meilleurs coups",
  showAfter: "Montrer la suite",
  showBefore: "Montrer le choix",
  otherAction: (action, worth) => `${action} : ${worth}`,
  otherPlacement: (where, points, worth) => `${where} : ${points} ; ${worth}`,

  // Le graphique d’une analyse
  expectedLowest: "Marqueur le plus bas espéré",
  winChance: "Chances d’être premier",
  chartLabel: (title) => `${title}, coup par coup ; les nombres sont dans le tableau ci-dessous`,
  chartAxis: (decisions) => `coups 1 à ${decisions}`,
  asTable: "En tableau",
  tableHead: (value) => ["N°", "Joueur", value, "Verdict", "Perte"],

  // The rules and the introduction
  rulesPage: "Règles",
  introduction: "Initiation",
  tryIntroduction: "S’initier en deux minutes",
  rulesIn: (name) => `Les règles n’existent pas dans votre langue ; les voici en ${name}.`,
  lessonTitle: (at, of, title) => `${at} sur ${of} : ${title}`,
  lessons: {
    score: ({ enough }) => ({
      title: "Poser une tuile",
      task: `Prenez la tuile sous le plateau et promenez-la dessus. Les traits montrent les symboles que comptent ses moitiés. Posez-la là où elle rapporte au moins ${enough} points.`,
      again: "Il y a de meilleures places : à côté de deux symboles alignés de la même couleur.",
      done: "Chaque moitié compte les symboles de sa couleur, même imprimés, sur les lignes droites qui partent d’elle. Vos marqueurs ont avancé d’autant.",
    }),
    bonus: ({ red, stop }) => ({
      title: "Gagner une pose bonus",
      task: `Un marqueur qui arrive à ${stop} donne droit à une pose bonus. Prenez une tuile qui porte « ${red} » et amenez votre marqueur rouge à ${stop}.`,
      again: `Le marqueur rouge n’est pas arrivé à ${stop}. Alignez la moitié rouge avec deux symboles rouges.`,
      more: `Le marqueur rouge est arrivé à ${stop} : une pose bonus ! Posez une tuile de plus, où vous voulez.`,
      done: "Après la dernière tuile du tour, on pioche jusqu’à en avoir de nouveau six. Puis c’est au joueur suivant.",
    }),
    lowest: ({ lowest: [own, other] }) => ({
      title: "Le marqueur le plus bas décide",
      task: "Cette partie est finie. Ce n’est pas la somme qui compte, mais le marqueur le plus bas de chacun. Qui a gagné ?",
      again: "Regardez le marqueur le plus bas de chacun, quelle que soit sa couleur.",
      done: `On compare les marqueurs les plus bas : ${Math.max(own, other)} l’emporte sur ${Math.min(own, other)}. À égalité, on compare les deuxièmes plus bas, et ainsi de suite. Faites donc avancer toutes les couleurs ensemble.`,
    }),
    swap: ({ lowestColor }) => ({
      title: "Échanger",
      task: `Votre tour s’achève, et votre couleur la plus basse est celle-ci : ${lowestColor}. Aucune tuile de votre réserve ne la porte : avant de piocher, vous pouvez échanger toutes vos tuiles. Échangez-les.`,
      done: "Vous avez six nouvelles tuiles ; les anciennes sont retournées dans le sac. Tout le monde les a vues.",
    }),
  },
  lessonsEnd: "La partie s’arrête quand plus aucune tuile ne peut être posée, ou dès qu’un joueur a tous ses marqueurs au bout de la piste. La page des règles dit le reste : la première tuile, les équipes, le jeu en solitaire.",
  // Le plateau d’étude
  analysisPage: "Étude",
  analysisTitle: "Étude · Génial!",
  firstPosition: "La première position",
  variations: "Coups essayés",
  removeMove: "Effacer",
  position: "Position",
  positionText: "La position en texte",
  usePosition: "Prendre ce texte",
  copyPosition: "Copier",
  dealRacks: "Tirer les réserves cachées",
  racksDealt: "réserves cachées tirées au hasard",
  hiddenRack: (name) => `${name} doit jouer et sa réserve est cachée : tirez-la, ou revenez.`,
  editPosition: "Modifier la position",
  editing: "Modifier la position : choisissez une couleur, puis des cases.",
  editHelp:
    "Choisissez une couleur et cliquez sur des cases. Une réserve est une suite de tuiles comme RG BB, ou un nombre de tuiles cachées. Les tuiles qui restent sont dans le sac.",
  paintWith: "Couleur",
  eraser: "case libre",
  rackOf: (name) => `Réserve : ${name}`,
  markersOf: (names) => `Marqueurs : ${list(names)}`,
  markerOf: (name, color) => `Marqueur ${color} : ${name}`,
  whoIsToPlay: "À jouer",
  decision: "Décision",
  phases: { place: "poser une tuile", bonus: "poser une tuile bonus", swap: "échanger ou garder la réserve" },
  useEdit: "Prendre cette position",
  clearBoard: "Vider le plateau",
  newDeal: "Nouvelle donne",
  saveAnalysis: "Garder",
  saved: "Gardé dans ce navigateur.",
  notSaved: "Ce navigateur ne garde rien pour cette page.",
  savedAnalyses: "Études gardées",
  nothingSaved: "Aucune pour l’instant. Elles restent dans ce navigateur.",
  analysisName: (when, seats, lowest) => `${when} : ${modes.individual(seats)}, plus bas ${lowest}`,
  opponent: "Adversaire",
  playFrom: "Jouer la suite",
  stopPlaying: "Finir la partie",
  youPlay: (seat) => `Vous jouez pour ${seat} ; les réserves de l’agent sont cachées.`,
  bestMoves: "Meilleurs coups",
  noJudging: "aucun",
  judging: (level) => `Le juge réfléchit (${level})…`,
  judgedMoves: (judged, level, exact) =>
    (exact
      ? `${judged} coups, valeurs exactes : la finale est résolue.`
      : `${judged} coups jugés (${level}) ; ± est l’erreur type de l’écart au meilleur.`) +
    " Un clic montre un coup, un double clic le joue.",
  judgedWorth: (utility, win, error, solo) => {
    const value = solo ? number(utility, 1) : signed(utility, 2);
    return `${value}${error ? ` ± ${number(error, 2)}` : ""}${win === null ? "" : ` (${percent(win)} premier)`}`;
  },

  // Les leçons
  lessonsPage: "Leçons",
  lessonsTitle: "Leçons · Génial!",
  allThemes: "tous les thèmes",
  puzzleThemes: {
    endgame: "la dernière tuile",
    "immediate win": "gagner dans ce tour",
    "double bonus": "deux bonus d’une tuile",
    swap: "échanger ou garder",
    opening: "début de partie",
    "middle game": "milieu de partie",
    "late game": "fin de partie",
  },
  ownGames: (kept) => `vos propres erreurs (${kept})`,
  puzzleTask: (kind) => (kind === "swap" ? "Échanger la réserve, ou la garder ?" : "Trouvez le meilleur coup."),
  findBetter: "Trouvez un meilleur coup.",
  puzzleHelp: "Un coup est meilleur que tous les autres. Le premier essai compte pour votre cote.",
  findBetterHelp: "Le juge dit ce que vaut votre coup.",
  yourRating: (rating, range, solved, tries) =>
    `Votre cote : ${number(rating)} ± ${range} (${solved} sur ${tries} résolus)`,
  puzzleAbout: (theme, rating) => `Ce problème : ${theme}, cote ${number(rating)}. Greedy a 0, comme à l’accueil.`,
  checking: "Vérification…",
  solved: "Résolu !",
  notSolved: (lost, solo) => {
    const unit = solo ? "sur le marqueur le plus bas attendu" : "sur le rang attendu, qui va de −1 à +1";
    return lost === null ? "Ce n’est pas le meilleur." : `Ce n’est pas le meilleur : il coûte ${number(lost, 2)} ${unit}.`;
  },
  ratedTry: (rating, change) => `Votre cote est ${number(rating)} (${signed(change, 0)}).`,
  notRated: "Un autre essai ne compte pas.",
  bestCount: (equal) => count(equal, { one: "C’est le seul meilleur choix.", other: "# choix se valent." }),
  proof: (proof, proved) => {
    if (proved === null) return `Preuve (en anglais) : ${proof}`;
    const { left, unseen, legal, best, second, judged, deals, error } = proved.values;
    if (proved.code === "rollouts") {
      return (
        `Pourquoi : ${number(judged)} des ${number(legal)} coups permis ont été joués dans ${number(deals)} répartitions des tuiles cachées. ` +
        `Le meilleur vaut ${signed(best, 3)}, le suivant ${signed(second, 3)} (rang attendu, de −1 à +1) ; l’erreur type de l’écart est de ${number(error, 3)}.`
      );
    }
    const how = {
      solo: "toutes les poses et toutes les pioches jusqu’à la fin de la partie",
      win: `le meilleur gain dans ce tour, quoi qu’aient les autres, et sinon toutes les répartitions de ${unseen} tuiles`,
      hands: `toutes ses propres suites de poses, toutes les réserves que l’adversaire peut tenir de ${unseen} tuiles, sa meilleure réponse à chacune, toutes les pioches et la dernière tuile`,
      replies: `toutes ses propres suites de poses et la meilleure dernière réponse du suivant, pour toutes les répartitions de ${unseen} tuiles`,
    }[proved.code];
    const unit = proved.code === "solo" ? "marqueur le plus bas" : "rang de −1 à +1";
    const placements = count(left, { one: "# pose", other: "# poses" });
    return (
      `Preuve : il reste au plus ${placements}. Ont été passées en revue ${how}. ` +
      `De ${number(legal)} coups permis, les meilleurs valent ${signed(best, 2)}, les suivants ${signed(second, 2)} (${unit}).`
    );
  },
  verdictOn: (verdict, loss, error) =>
    `Votre coup : ${verdict}, perte ${number(loss, 2)}${error ? ` ± ${number(error, 2)}` : ""}.`,
  showAnswer: "Montrer la réponse",
  bestAnswer: "Le meilleur",
  nextPuzzle: "Suivant",
  analyse: "Étudier",
  noOwnPuzzles: "Aucune pour l’instant. Faites analyser une partie, et gardez ses erreurs comme problèmes.",
  nextMistake: "Erreur suivante",
  nextMistakeKey: "touche N",
  keepMistakes: "Garder mes erreurs comme problèmes",
  mistakesKept: (kept) =>
    count(kept, { one: "# nouveau problème parmi vos leçons.", other: "# nouveaux problèmes parmi vos leçons." }),
  reviewAtEnd: "La partie pourra être analysée quand elle sera finie.",
  badAddress: "L’adresse ne contient pas de partie : elle est coupée ou changée.",
  lookBack: "Revoir cette partie pas à pas",

  // Le partage
  share: "Partager",
  copyLink: "Copier un lien",
  linkCopied: "Copié.",
  copyByHand: "À copier :",
  making: "Un instant…",
  savePicture: "Image (PNG)",
  saveFilm: "Film (GIF)",
  saveRecord: "Feuille de partie",
  savePage: "Page avec la partie",
  copyEmbed: "Copier une balise pour pages web",
  replayLabels: ["Retour", "Suite", "Lecture", "Étape"],
};
