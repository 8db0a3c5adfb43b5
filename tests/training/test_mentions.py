"""What captions say is on a photograph, by a WordNet of a few words."""

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
from training.clip_b16.mentions import Nouns, shares_of, true_words

ANIMAL, PERSON, TOP, ACT = 5, 18, 3, 4
SYNSETS = {  # offset: words, hypernyms, lexicographer file
    1: (["organism"], [], TOP),
    2: (["person", "individual"], [1], TOP),
    3: (["man", "adult_male"], [2], PERSON),
    4: (["dog"], [1], ANIMAL),
    5: (["white"], [2], PERSON),
    6: (["run"], [], ACT),
    7: (["hot_dog"], [], 13),
    8: (["child"], [2], PERSON),
}


@pytest.fixture
def wordnet(tmp_path):
    data, index = [], []
    for offset, (words, parents, file) in SYNSETS.items():
        said = " ".join(f"{word} 0" for word in words)
        pointers = " ".join(f"@ {parent:08} n 0000" for parent in parents)
        data.append(f"{offset:08} {file:02} n {len(words):02x} {said} {len(parents):03} {pointers} | a gloss")
        index += [f"{word} n 1 0 1 0 {offset:08}" for word in words]
    (tmp_path / "data.noun").write_text("  1 a licence\n" + "\n".join(data) + "\n")
    (tmp_path / "index.noun").write_text("\n".join(index) + "\n")
    (tmp_path / "index.adj").write_text("white a 1 0 1 0 00000009\n")
    (tmp_path / "noun.exc").write_text("children child\nmen man\n")
    return tmp_path


@pytest.mark.parametrize(
    ("caption", "words"),
    [
        ("Two men", {"man", "adult male", "person", "individual", "organism"}),
        ("Dogs .", {"dog", "organism"}),
        ("the people", {"person", "individual", "organism"}),
        ("children", {"child", "person", "individual", "organism"}),
        ("a white wall", set()),  # an adjective, whatever else it is
        ("they run", set()),  # no thing
        ("a hot dog", {"hot dog"}),  # and no dog
    ],
)
def test_a_noun_makes_itself_and_all_above_it_true(wordnet, caption, words):
    assert Nouns(wordnet).words(caption) == words


def test_two_captions_must_agree(wordnet):
    said = [("a man and a dog", "a man", "someone"), ("a dog",), ()]
    assert true_words(said, wordnet) == [{"man", "adult male", "person", "individual", "organism"}, set(), set()]


def test_a_photograph_is_shared_by_the_things_it_shows():
    words = [frozenset({"man", "person", "dog"}), frozenset({"tree"})]
    shares = shares_of(words, [("Person", "man"), ("dog",), ("cat",), ("person",)])
    np.testing.assert_allclose(shares, [[1 / 3, 1 / 3, 0, 1 / 3], [0, 0, 0, 0]])
