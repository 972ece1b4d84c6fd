import os

import pytest

from discreet.data.files import whole, write_text
from discreet.errors import OutputError


def test_a_file_is_written_whole(tmp_path):
    write_text(tmp_path / "x.txt", "größer\n")
    assert (tmp_path / "x.txt").read_text(encoding="utf-8") == "größer\n"
    assert os.listdir(tmp_path) == ["x.txt"]


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")

    def fail():
        with whole(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.txt"]


def test_a_full_disk_is_one_sentence(tmp_path):
    def fail():
        with whole(tmp_path / "x.txt"):
            raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match=r"x.txt': no space left on device; choose a folder"):
        fail()
    assert not os.listdir(tmp_path)


def test_the_rights_of_a_file(tmp_path):
    mask = os.umask(0o027)
    try:
        write_text(tmp_path / "new.txt", "")
    finally:
        os.umask(mask)
    assert (tmp_path / "new.txt").stat().st_mode & 0o777 == 0o640
    (tmp_path / "new.txt").chmod(0o600)
    write_text(tmp_path / "new.txt", "again")
    assert (tmp_path / "new.txt").stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(OutputError, match=r"no/x.txt': no such file or directory; choose a folder"):
        write_text(tmp_path / "no" / "x.txt", "")
    with pytest.raises(OutputError, match="it is a folder; name a file in it"):
        write_text(tmp_path, "")
    with pytest.raises(OutputError, match="cannot write '/dev/null': it is a device"):
        write_text("/dev/null", "")
    assert not os.listdir(tmp_path)


def test_a_folder_that_may_not_be_written_to(tmp_path, monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(OutputError, match=r"x.txt': permission denied; choose a folder that you"):
        write_text(tmp_path / "x.txt", "")
