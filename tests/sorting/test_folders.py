"""Labels as names of folders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewvote.sorting.folders import folder_names, safe_name


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("hot dog", "hot dog"),
        ("日本", "日本"),
        ("salt/pepper", "salt_pepper"),
        ('a\\b:c*d?e"f<g>h|i\n', "a_b_c_d_e_f_g_h_i_"),
        ("..", "_"),
        (".hidden", "hidden"),
        ("St. Bernard.", "St. Bernard"),
        ("  ", "_"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("console", "console"),
        ("x" * 300, "x" * 120),
        ("é" * 100, "é" * 60),
    ],
)
def test_any_system_takes_the_name(label, name):
    assert safe_name(label) == name


def test_labels_that_would_share_a_folder_are_numbered():
    assert folder_names(["a/b", "a:b", "Cat", "cat", "review"], reserved=["Review"]) == (
        "a_b",
        "a_b-2",
        "Cat",
        "cat-2",
        "review-2",
    )


@given(st.lists(st.text(min_size=1), max_size=8, unique=True))
def test_folders_are_different_and_safe(labels):
    names = folder_names(labels)
    assert len({name.casefold() for name in names}) == len(labels)
    for name in names:
        assert name not in (".", "..")
        assert not set(name) & set('/\\:*?"<>|\0\n')
        assert len(name.encode()) < 255
