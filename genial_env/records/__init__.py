"""Game records: write, read, replay and verify them, and remove what a seat must not know.

docs/records.md describes the format of records, docs/notation.md the text for a single position.
"""

from genial_env.records.batches import Played, located_records, replay_batches
from genial_env.records.files import read_records, record_writer, to_json_line, write_records
from genial_env.records.format import FORMAT, KEYS, VERSION, Event, Record
from genial_env.records.frames import frame_schema, to_frame, to_frames, write_frame
from genial_env.records.position_text import format_position, parse_position
from genial_env.records.recorder import Recorder
from genial_env.records.redact import HIDDEN_SLOT, HIDDEN_TILE, SPECTATOR, events_for_seat
from genial_env.records.replay import Decisions, replay, replay_decisions, replay_each, replay_many, truncate, verify

__all__ = [
    "FORMAT",
    "HIDDEN_SLOT",
    "HIDDEN_TILE",
    "KEYS",
    "SPECTATOR",
    "VERSION",
    "Decisions",
    "Event",
    "Played",
    "Record",
    "Recorder",
    "events_for_seat",
    "format_position",
    "frame_schema",
    "located_records",
    "parse_position",
    "read_records",
    "record_writer",
    "replay",
    "replay_batches",
    "replay_decisions",
    "replay_each",
    "replay_many",
    "to_frame",
    "to_frames",
    "to_json_line",
    "truncate",
    "verify",
    "write_frame",
    "write_records",
]
