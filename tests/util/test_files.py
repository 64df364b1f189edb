"""Files written at once, and folders with one writer."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from genial_env._util import files
from tests.conftest import posix


def test_a_file_is_replaced_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with files.replace_file(path) as file:
        file.write("new\n")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_bytes() == b"new\n"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_after_an_error_the_old_file_is_there_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def write_half() -> None:
        with files.replace_file(path, "wb") as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("names_a_file", [False, True], ids=["full disk", "not allowed"])
def test_an_error_names_the_file_that_was_to_be_written(tmp_path: Path, names_a_file: bool) -> None:
    """It may name no file, or the temporary one; an error of another file keeps that file's name."""
    path = tmp_path / "a.txt"

    def fail(of: str | None) -> None:
        with files.replace_path(path) as beside:
            raise OSError(errno.EACCES, "not written", str(beside) if of is None and names_a_file else of)

    with pytest.raises(OSError, match="not written") as caught:
        fail(None)
    assert caught.value.filename == str(path)
    with pytest.raises(OSError, match="not written") as caught:
        fail("other.txt")
    assert caught.value.filename == "other.txt"
    assert os.listdir(tmp_path) == []


def test_writers_that_take_a_path_find_its_suffix(tmp_path: Path) -> None:
    with files.replace_path(tmp_path / "picture.png") as beside:
        assert beside.suffix == ".png"
        beside.write_bytes(b"png")
    assert os.listdir(tmp_path) == ["picture.png"]


@posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    files.write_text(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "x"


def test_what_cannot_be_written_is_known_before(tmp_path: Path) -> None:
    files.check_replaceable(tmp_path / "new")
    assert os.listdir(tmp_path) == []
    with pytest.raises(OSError, match="Not a file that can be replaced"):
        files.check_replaceable(tmp_path)
    with pytest.raises(FileNotFoundError, match="missing"):
        files.check_replaceable(tmp_path / "missing" / "file")


@posix
def test_a_device_is_not_replaced() -> None:
    with pytest.raises(OSError, match="Not a file"), files.replace_file(os.devnull) as file:
        file.write("x")


def test_lines_are_appended(tmp_path: Path) -> None:
    files.append_lines(tmp_path / "lines", ["a\n"])
    files.append_lines(tmp_path / "lines", ["b\n", "c\n"])
    assert (tmp_path / "lines").read_text() == "a\nb\nc\n"


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    message = rf"Another process is writing there.*{os.getpid()}"
    with files.lock_folder(folder), pytest.raises(files.FolderInUse, match=message):
        files.lock_folder(folder).__enter__()
    with files.lock_folder(folder):
        pass


def test_a_killed_writer_leaves_the_folder_free(tmp_path: Path) -> None:
    code = """
import sys
from genial_env._util import files
with files.lock_folder(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"held\n"
        with pytest.raises(files.FolderInUse, match=f"process {writer.pid}"), files.lock_folder(tmp_path):
            pass
        writer.kill()
    with files.lock_folder(tmp_path):
        pass
