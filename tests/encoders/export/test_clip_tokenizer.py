"""OpenAI's tokenizer rebuilt as tokenizer.json gives open_clip's own ids, token for token."""

import random
import string

import pytest

pytestmark = pytest.mark.torch

WORDS = "a photo of the dog's can't we'll they've I'm he'd you're naïve café Zürich Straße 東京 москва".split()  # noqa: SIM905
WORDS += ["Ελλάδα", "👍🏽", "é", "42", "3.14", "x2"]
TRICKY = [
    "",
    " ",
    "a photo of a golden retriever.",
    "A PHOTO OF A DOG",
    "it's John's, isn't it? WE'LL see; they'd've",
    "don’t “quote” ‘me’",
    "ﬁne aﬄuent ﬂower",
    "salt &amp; pepper &lt;3 &quot;hi&quot;",
    "tab\tnew\nline  double   spaces\u00a0nbsp\u2003em",
    "1234567890 10,000 3.14159 1st 2nd x86",
    "e\u0301 composed é",
    "日本語のテキスト 한국어 العربية עברית हिन्दी",
    "emoji 👩‍👩‍👧 🏳️‍🌈 👍🏽",
    "under_score-hyphen/slash\\back|pipe",
    "!!!??? ... --- *** <<>> {}[]()",
    "a\x00b\x07c\ufeffd",
    "<start_of_text> inside <end_of_text>",
    "supercalifragilisticexpialidocious " * 30,
    "²³½ Ⅷ ①",
    "ǅ ŉ ſ",
]


def random_texts(count: int) -> list[str]:
    rng = random.Random(0)
    ranges = [(0x20, 0x7E), (0xA1, 0x24F), (0x370, 0x3FF), (0x400, 0x4FF), (0x4E00, 0x4FFF), (0x1F300, 0x1F5FF)]
    texts = []
    for i in range(count):
        if i % 2:
            texts.append(
                " ".join(rng.choice(WORDS) + rng.choice(["", "", ",", ".", "!"]) for _ in range(rng.randint(1, 12)))
            )
        else:
            low, high = rng.choice(ranges)
            alphabet = [chr(rng.randint(low, high)) for _ in range(20)] + list(string.ascii_letters) + [" "] * 10
            texts.append("".join(rng.choice(alphabet) for _ in range(rng.randint(1, 40))))
    return texts


@pytest.fixture(scope="module")
def pair():
    import open_clip
    from tokenizers import Tokenizer

    from viewvote.encoders.export.from_open_clip import simple_tokenizer_json

    theirs = open_clip.SimpleTokenizer()
    ours = Tokenizer.from_str(simple_tokenizer_json(theirs))
    ours.enable_truncation(max_length=77)
    return ours, theirs


def theirs_unpadded(theirs, text: str) -> list[int]:
    ids = theirs([text])[0].tolist()
    return ids[: ids.index(theirs.eot_token_id, 1) + 1] if "<end_of_text>" not in text else ids


@pytest.mark.parametrize("text", TRICKY)
def test_tricky_texts_give_the_same_ids(pair, text: str) -> None:
    ours, theirs = pair
    ids = ours.encode(text).ids
    assert ids + [0] * (77 - len(ids)) == theirs([text])[0].tolist()


def test_thousands_of_random_texts_give_the_same_ids(pair) -> None:
    import ftfy

    ours, theirs = pair
    texts = [text for text in random_texts(4000) if ftfy.fix_encoding(text) == text]  # its repairs cannot be kept
    assert len(texts) > 3500
    wrong = [text for text in texts if ours.encode(text).ids != theirs_unpadded(theirs, text)]
    assert wrong == []
