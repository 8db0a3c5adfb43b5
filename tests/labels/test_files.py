"""Files of labels."""

import pytest

from viewvote.errors import UsageError
from viewvote.labels.files import read_labels


def test_each_line_is_a_label(tmp_path):
    file = tmp_path / "labels.txt"
    file.write_bytes("\ufeffcat\r\n\n  hot dog \nblå, grønn".encode())
    assert read_labels(file) == ["cat", "hot dog", "blå, grønn"]


def test_a_file_that_cannot_be_read_is_a_usage_mistake(tmp_path):
    with pytest.raises(UsageError, match=r"cannot read the labels file .*none\.txt: No such file"):
        read_labels(tmp_path / "none.txt")
    (tmp_path / "latin1.txt").write_bytes(b"caf\xe9")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        read_labels(tmp_path / "latin1.txt")
