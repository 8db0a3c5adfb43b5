"""PPM and its relatives: header words of any kind before pixels."""

import random

_WORDS = (
    b"1",
    b"24",
    b"257",
    b"1224",
    b"70000",
    b"0",
    b"-1",
    b"255",
    b"65535",
    b"65536",
    b"1.0",
    b"-1.0",
    b"nan",
    b"9" * 30,
)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A header of its words, comments and spaces, and some bytes."""
    kind = b"P" + rng.choice((b"1", b"2", b"3", b"4", b"5", b"6", b"F", b"f", b"7", b"0CMYK", b"yL", b"yRGBA"))
    if rng.random() < 0.4:
        kind, words = data[:2], [rng.choice((word, word, word, rng.choice(_WORDS))) for word in data[2:20].split()[:3]]
    else:
        words = [rng.choice((b"24", b"16")), rng.choice((b"24", b"16")), rng.choice((b"255", b"65535", b"1.0"))]
        words = [word if rng.random() < 0.8 else rng.choice(_WORDS) for word in words]
    space = rng.choice((b"\n", b" ", b"\t", b"\n# a comment\n", b"\n#" + b"c" * 300 + b"\n", b""))
    return kind + space + space.join(words) + b"\n" + (data[15:] or rng.randbytes(2000))
