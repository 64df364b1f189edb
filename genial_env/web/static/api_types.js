// What the server sends, as types for the other modules. `genial_env/web/_serialize.py` makes these objects.

/**
 * A color letter: one of R G B O Y P. A tile is a string of two letters, "" is an empty slot.
 * @typedef {string} Letter
 *
 * Points by color letter; colors without points are left out.
 * @typedef {Record<Letter, number>} Points
 */

/**
 * A refused request.
 * @typedef {object} Refused
 * @property {string} error in English
 * @property {string} code what was refused
 * @property {Record<string, any>} values what it is about, by name
 *
 * What a seat is called. The page makes the property `names` of this, in the reader's language.
 * @typedef {{code: "you" | "seat", seat: number, name?: undefined} | {code: "name" | "name_on_seat", seat: number, name: string}} SeatName
 *
 * Why tracks of a finished game rank as they do. Of "ahead" the first track ranks above the second: both have the same
 * lowest markers, and differ in the next one. "shared" and "solo" have all markers, "all_at_top" the top.
 * @typedef {{code: "solo" | "all_at_top" | "shared" | "ahead", tracks: number[], markers: number[], differing: number[]}} RankReason
 */

/**
 * The answer to the first request.
 * @typedef {object} Setup
 * @property {Look} look
 * @property {Choices} choices
 * @property {boolean} invited whether the browser may begin games
 */

/**
 * How tiles look, by color letter.
 * @typedef {object} Look
 * @property {Record<Letter, string>} colors CSS colors
 * @property {Record<Letter, string>} shapes the shapes in words
 * @property {Record<Letter, string>} symbols SVG path data about (0, 0), reaching out to 1
 * @property {string} tile the color of the ground of a tile
 */

/**
 * What a new game can be.
 * @typedef {object} Choices
 * @property {{edition: string, mode: Mode, players: number[]}[]} combinations
 * @property {Record<Size, [number, number]>} sizes the least and the greatest value
 * @property {Record<string, Record<string, number>>} ratings of agents, by the number of seats
 *
 * @typedef {"individual" | "team" | "solo"} Mode
 * @typedef {"side" | "colors" | "rack" | "tile_sets"} Size
 */

/**
 * Rules by their names; what is as printed is left out.
 * @typedef {{players: number, edition: string, mode: Mode, one_bonus_a_tile?: boolean} & Partial<Record<Size, number>>}
 *   NamedRules
 */

/**
 * Rules, and the facts that follow from them.
 * @typedef {object} Rules
 * @property {number} players
 * @property {string} edition
 * @property {Mode} mode
 * @property {number} side cells along an edge of the board
 * @property {number} rack slots of a rack
 * @property {NamedRules} named
 * @property {string} colors the letters of the colors in play
 * @property {number[][]} seats_by_track the seats that play for each track
 * @property {number[]} stops where a marker stops
 * @property {number[]} next_stop by the place of a marker: where it stops next
 * @property {number[]} furthest by the place of a marker: how far one tile can move it
 * @property {number[]} bonus_stops where the arrival of a marker earns a bonus turn
 * @property {number} bonuses_a_tile the most bonus turns that one tile earns
 * @property {[number, number][]} cells the cells (q, r) in row order
 * @property {number[]} start_symbols the cell of each color's printed symbol
 */

/**
 * @typedef {object} Position
 * @property {string} board a letter for each cell; "." is a free cell
 * @property {string} runs for each cell and each of the 6 directions a digit of base 36: how many cells of one color
 *   lie next to the cell in that direction
 * @property {number[][]} scores the markers of each track
 * @property {(string[] | number)[]} racks for each seat its tiles, or their number if they are hidden
 * @property {number} bag tiles in the bag
 * @property {Record<string, number>} [unseen] the tiles that the seat whose rack is shown has not seen, by kind
 * @property {number} to_play the seat to play
 * @property {number} track_to_play its track
 * @property {"place" | "bonus" | "swap" | "over"} phase
 * @property {number} pending_bonus bonus turns to come
 */

/**
 * A decision of the game, or a draw.
 * @typedef {object} GameEvent
 * @property {number} event its number
 * @property {"place" | "swap" | "draw" | "pass" | "keep"} kind
 * @property {number} seat
 * @property {string} [tile] of "place"
 * @property {number[]} [cells] of "place"
 * @property {Points} [points] of "place"
 * @property {string[]} [tiles] of "swap" and "draw"
 */

/**
 * What the person to play may do.
 * @typedef {object} Choice
 * @property {[number, number][]} pairs pairs of free cells that a tile may cover
 * @property {number[][]} points by cell and color: what half a tile would score there
 * @property {boolean} first_tile whether it is the seat's first tile, which must lie next to a printed symbol
 * @property {boolean} swap
 * @property {boolean} decline
 */

/**
 * How long an agent has been thinking.
 * @typedef {object} Thinking
 * @property {number} seconds
 * @property {boolean} waits whether it waits for a thread of the server
 * @property {boolean} compiling whether the server compiles code, so that it takes longer
 */

/**
 * @typedef {object} Ending
 * @property {string} how
 * @property {number} seed
 * @property {number[][]} scores
 * @property {number[]} ranks
 * @property {Record<string, "resigned" | "time">} left why people have left, by seat
 * @property {string[]} why sentences, in English
 * @property {RankReason[]} reasons the same as data, in the same order
 */

/**
 * Who sits where.
 * @typedef {object} Seating
 * @property {boolean} shared whether people join by links
 * @property {number[]} absent the seats whose link was not used yet
 * @property {Record<string, "resigned" | "time">} left why people have left, by seat
 * @property {{seats: (string | null)[], spectators: string | null}} [links] the secrets of the links, for the host
 * @property {{seat: number, waits_for: number[]}} [offer] who wants to take a decision back, and who has not agreed yet
 * @property {Clock} [clock]
 *
 * The time of people, in seconds.
 * @typedef {object} Clock
 * @property {number} main_s at the beginning
 * @property {number} move_s added after each turn
 * @property {number[]} left by seat
 * @property {number | null} running the seat whose time runs down
 */

/**
 * A game in progress or finished.
 * @typedef {object} Game
 * @property {string} id
 * @property {string} key its id, and the secret of the link by which the page shows it; set by the page
 * @property {Rules} rules
 * @property {string[]} names of the seats
 * @property {"host" | "guest" | "spectator"} role of who looks at it
 * @property {number[]} own the seats that this page plays
 * @property {string} version another text whenever something has changed
 * @property {boolean} stopped whether the thinking of the agent to play was cancelled
 * @property {Seating} seating
 * @property {number} turn the number of decisions made
 * @property {boolean} waits whether a person is to play
 * @property {number | null} seat the seat whose rack is shown
 * @property {number[]} people the seats of people; all racks are shown if there are none, and at the end
 * @property {Position} position
 * @property {GameEvent[]} moves
 * @property {boolean} judge whether there are hints
 * @property {Choice} [choice]
 * @property {Ending} [end]
 * @property {Thinking} [thinking]
 */

/**
 * A game in the list of games; a file that is not a valid game has a fault.
 * @typedef {object} GameSummary
 * @property {string} id
 * @property {string} [fault]
 * @property {number} started in seconds since 1970
 * @property {NamedRules} rules
 * @property {string[]} names
 * @property {number[][]} seats_by_track the seats that play for each track
 * @property {number} turn
 * @property {boolean} over
 * @property {number[][]} [scores] if it is over
 * @property {number[]} [ranks] if it is over
 */

/**
 * A placement has a slot and cells, another action has a word.
 * @typedef {object} Hint
 * @property {number} utility
 * @property {number | null} win the chance of the first place; null in solo
 * @property {number} [slot]
 * @property {[number, number]} [cells]
 * @property {"swap" | "decline"} [word]
 * @property {undefined} [thinking]
 */

/**
 * A game of a file of records.
 * @typedef {object} RecordSummary
 * @property {number} line
 * @property {string} [fault]
 * @property {string[]} names
 * @property {number[][]} scores
 * @property {string} end
 */

/**
 * A decision as it is sent.
 * @typedef {{word: "swap" | "decline"} | {slot: number, cells: number[]}} Move
 *
 * A position of an analysis or a lesson. The rack of the seat to play is hidden if there is no choice.
 * @typedef {object} Shown
 * @property {string} text docs/notation.md describes it
 * @property {Rules} rules
 * @property {string[]} names
 * @property {Position} position
 * @property {boolean} judge
 * @property {Choice} [choice]
 * @property {GameEvent[]} [events] that led to it
 * @property {JudgedMove} [move] of an agent that led to it
 *
 * A judged move: slot and cells, or a word. The move of an agent has no values.
 * @typedef {object} JudgedMove
 * @property {string} text in English
 * @property {Points} points
 * @property {number} [slot]
 * @property {[number, number]} [cells]
 * @property {"swap" | "decline"} [word]
 * @property {number} utility
 * @property {number | null} win
 * @property {number | null} error the standard error of the difference to the best move; null for predictions
 *
 * @typedef {{level: string, judged: number, unit: "rank utility" | "lowest marker", moves: JudgedMove[]}} Judged
 *
 * @typedef {{loss: number, error: number | null, verdict: Verdict, best: JudgedMove[]}} Answered
 *
 * @typedef {{id: string, kind: string, rating: number, rules: NamedRules}} PuzzleSummary
 *
 * The way in which a puzzle is proved, and the numbers of its sentence by name (genial_env/analysis/proofs.py).
 * @typedef {"solo" | "win" | "hands" | "replies" | "rollouts"} ProofCode
 * @typedef {{code: ProofCode, values: Record<string, number>}} Proved
 *
 * @typedef {object} PuzzleAnswer
 * @property {boolean} solved
 * @property {number | null} lost
 * @property {JudgedMove[]} best
 * @property {number} count
 * @property {string} proof in English
 * @property {Proved | null} proved the same as data; null if its form is not known
 */

/**
 * A recorded game, step by step: frame k is the position after k decisions.
 * @typedef {object} Steps
 * @property {Rules} rules
 * @property {number[]} [people] the seats of people
 * @property {boolean} [over] whether a game played here has ended
 * @property {string[]} names
 * @property {string} end
 * @property {GameEvent[]} events
 * @property {{event: number, position: Position, text?: string, seen?: string}[]} frames with the number of
 *   events before each; their text if the racks may be known, and the text as the seat to play sees it
 */

/**
 * @typedef {"best" | "good" | "inaccuracy" | "mistake" | "blunder"} Verdict
 *
 * @typedef {object} Alternative
 * @property {number | null} slot of the tile; null for an action that is no placement
 * @property {number[]} cells
 * @property {"swap" | "decline"} [word] of an action that is no placement
 * @property {string} text
 * @property {Points} points
 * @property {number} utility
 *
 * @typedef {object} Decision
 * @property {number} seat
 * @property {number} utility
 * @property {number} best
 * @property {number} loss
 * @property {number | null} error the standard error of the loss; null for predictions
 * @property {number} win
 * @property {Alternative[]} alternatives
 * @property {Verdict} verdict
 *
 * The parts of a result, by track: result = expected + luck + skill.
 * @typedef {object} Luck
 * @property {number[]} result
 * @property {number[]} luck
 * @property {number[]} adjusted the result without luck
 * @property {{seat: number, tiles: string[], luck: number[]}[]} draws luck by track
 *
 * @typedef {object} Review
 * @property {string} judge
 * @property {"hidden" | "open"} racks whether the judge saw all racks
 * @property {"rank utility" | "lowest marker"} unit
 * @property {(number | null)[]} mean_loss by seat
 * @property {(number | null)[]} accuracy by seat, in percent
 * @property {Luck | null} luck null if it cannot be measured
 * @property {Decision[]} decisions
 *
 * A line of the answer to a request for a review.
 * @typedef {{done?: number, of?: number, review?: Review} & Partial<Refused>} ReviewLine
 */

export {};
