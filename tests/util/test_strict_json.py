"""JSON read strictly."""

from pathlib import Path

import pytest

from genial_env._util.strict_json import MAX_DEPTH, JSONError, numbered_lines, parse_json, parse_object, read_object


def test_values() -> None:
    assert parse_json('{"a": [1, 2.5, "]]", null]}') == {"a": [1, 2.5, "]]", None]}
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    brackets = '["' + "[" * 1000 + '"' + ", [1]" * 100 + "]"
    assert parse_json(brackets)[0] == "[" * 1000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 1}', "the key 'a' occurs twice"),
        ("[NaN]", "NaN is not a JSON number"),
        ("[-Infinity]", "-Infinity is not a JSON number"),
        ("[1e400]", "the number 1e400 is too large"),
        ("1" * 5000, "unreadable"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), f"nested at most {MAX_DEPTH} deep"),
        ('["' + "]" * 1000 + '",' + "[" * 900 + "]" * 901, f"nested at most {MAX_DEPTH} deep"),
        ("[" * 100_000, "nested at most"),
        ("{", "unreadable"),
        ("", "unreadable"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(JSONError, match="^here:3: expected JSON.*" + message.replace("(", r"\(")):
        parse_json(text, "here:3")


def test_size_and_kind() -> None:
    with pytest.raises(JSONError, match="at most 3 characters, found 4"):
        parse_json("1234", max_characters=3)
    with pytest.raises(JSONError, match="expected a JSON object, found list"):
        parse_object("[]")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"\xef\xbb\xbf{}\n\n[1]\n")
    assert list(numbered_lines(path)) == [(1, "{}\n"), (3, "[1]\n")]
    path.write_bytes(b"\xef\xbb\xbf{}")
    assert read_object(path) == {}
    path.write_bytes(b"{}\n\xff")
    with pytest.raises(JSONError, match="UTF-8"):
        list(numbered_lines(path))
    with pytest.raises(JSONError, match="UTF-8"):
        read_object(path)
