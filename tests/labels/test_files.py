"""Files of labels: every form that they come in, and what is refused."""

import pytest

from viewvote.errors import UsageError
from viewvote.labels.files import read_labels


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write


def test_each_line_is_a_label(write):
    assert read_labels(write("labels.txt", "\ufeffcat\r\n\n  hot dog \nblå, grønn")) == ["cat", "hot dog", "blå, grønn"]


def test_comments_and_empty_lines_count_for_nothing(write):
    text = "# animals\ncat\n\n  # and others\nC# book\rdog\u2028fish\n"
    assert read_labels(write("labels.txt", text)) == ["cat", "C# book", "dog\u2028fish"]


def test_utf_16_of_a_spreadsheet_is_read(write):
    assert read_labels(write("labels.txt", "katt\r\nräv\r\n".encode("utf-16"))) == ["katt", "räv"]


@pytest.mark.parametrize(
    ("name", "text", "column"),
    [
        ("one.csv", 'cat\n"salt, pepper"\ndog\n', None),
        ("header.csv", '\ufeffid,Label\r\n1,cat\r\n2,"salt, pepper"\r\n3,dog\r\n4,cat\r\n', None),
        ("semicolons.csv", "id;label\n1;cat\n2;salt, pepper\n3;dog\n", None),
        ("tabs.tsv", "id\tclass\n1\tcat\n2\tsalt, pepper\n3\tdog\n", None),
        ("named.csv", 'wnid,english\nn1,cat\nn2,"salt, pepper"\nn3,dog\n', "English"),
        ("numbered.csv", 'n1,cat\nn2,"salt, pepper"\nn3,dog\n', "2"),
        ("list.json", '["cat", "salt, pepper", "dog"]', None),
        ("list.txt", '\n["cat", "salt, pepper", "dog"]', None),
        ("inside.json", '{"labels": ["cat", "salt, pepper", "dog"]}', None),
        ("objects.json", '[{"name": "cat"}, {"name": "salt, pepper"}, {"name": "dog"}]', None),
        ("keyed.json", '[{"label": 0, "sv": "cat"}, {"sv": "salt, pepper"}, {"sv": "dog"}]', "sv"),
        ("lines.jsonl", '"cat"\n\n"salt, pepper"\r\n"dog"', None),
        ("objects.jsonl", '{"label": "cat"}\n{"label": "salt, pepper"}\n{"label": "dog"}\n', None),
    ],
)
def test_every_form_of_a_list_is_the_same_list(write, name, text, column):
    assert read_labels(write(name, text), column=column) == ["cat", "salt, pepper", "dog"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cupl.json", '{"tench": ["A tench is a fish.", "A green fish."], "cat": ["cat", "kitten"], "dog": "hound"}'),
        ("no-ending", '  {"tench": ["A tench is a fish.", "A green fish."], "cat": ["cat", "kitten"], "dog": "hound"}'),
        (
            "texts.jsonl",
            '{"label": "tench", "descriptions": ["A tench is a fish.", "A green fish."]}\n'
            '{"label": "cat", "texts": ["cat", "kitten"]}\n{"label": "dog", "text": "hound"}\n',
        ),
    ],
)
def test_a_mapping_gives_texts_to_its_labels(write, name, text):
    assert read_labels(write(name, text)) == {
        "tench": ["A tench is a fish.", "A green fish."],
        "cat": ["cat", "kitten"],
        "dog": ["hound"],
    }


def test_a_label_without_texts_among_others_stands_for_itself(write):
    text = '"cat"\n{"label": "dog", "texts": ["hound"]}\n'
    assert read_labels(write("some.jsonl", text)) == {"cat": ["cat"], "dog": ["hound"]}


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("photo.txt", b"\xff\xd8\xff\xe0\x00\x10JFIF\n", r"is not UTF-8 text: .*It starts with 'ÿØÿà"),
        ("zero.txt", b"cat\x00dog\n", r"has a zero byte\. It starts with 'cat\\x00dog'"),
        (
            "page.txt",
            "<!DOCTYPE html>\n<html>\n<body>\n",
            r"it is a document.*It starts with '<!DOCTYPE html>' / '<html>'",
        ),
        ("prose.txt", "first\n" + "word " * 100, r"line 2 has 499 characters.*It starts with 'first' / 'word word"),
        (
            "two.csv",
            "path,kind\na.jpg,cat\n",
            r"its columns are path, kind and none is called label.*'path,kind' / 'a.jpg",
        ),
        ("rows.jsonl", '{"path": "a.jpg", "score": 1}\n', r"entry 1 has no label, only path, score.*--labels-column"),
        ("half.json", '["cat", ', r"is not valid JSON .*It starts with '\[\"cat\", '"),
        ("ids.json", '{"cat": 0, "dog": 1}', r"'cat' has 0; expected a text or a list of texts"),
        ("number.json", "17", r"it holds one int; expected a list"),
        ("deep.json", "[" * 100_000, r"nested too deeply"),
        ("twice.json", '{"cat": "a cat", "cat": "a tiger"}', r"it has 'cat' twice"),
        ("twice.jsonl", '"cat"\n"cat"', r"it has 'cat' twice"),
        ("empty.json", "", r"It is empty"),
    ],
)
def test_what_cannot_be_labels_is_refused_with_its_first_lines(write, name, content, told):
    with pytest.raises(UsageError, match=told) as caught:
        read_labels(write(name, content))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


def test_a_column_that_is_not_there_is_refused(write):
    table = write("table.csv", "wnid,english\nn1,cat\n")
    with pytest.raises(UsageError, match=r"no column '3'; its columns are wnid, english"):
        read_labels(table, column="3")
    with pytest.raises(UsageError, match=r"--labels-column names a column"):
        read_labels(write("labels.txt", "cat"), column="label")


def test_a_file_that_cannot_be_read_is_a_usage_mistake(tmp_path):
    with pytest.raises(UsageError, match=r"cannot read the labels file .*none\.txt: No such file"):
        read_labels(tmp_path / "none.txt")
    (tmp_path / "latin1.txt").write_bytes(b"caf\xe9")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        read_labels(tmp_path / "latin1.txt")
