"""OpenAI's byte-pair tokenizer as a `tokenizer.json`, and the text cleaning that goes before tokenizers.

Cleaning as CLIP does it needs ftfy, which a `tokenizer.json` cannot hold. What labels and prompts meet in practice is
kept: curly quotes, ligatures, common HTML entities, control characters, composed accents, case. What is lost: repair of
wrongly decoded text ("Ã©") and of full-width letters.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

Cleaning = Literal["lower", "whitespace", "canonicalize"]

_WORDS = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"""
_CONTROLS = r"[\x00-\x08\x0b\x0e-\x1f\x7f\x{206a}-\x{206f}\x{feff}\x{fff9}-\x{fffc}]"
_PUNCTUATION = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^`{|}~]"""
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&apos;": "'", "&nbsp;": " "}
_LIGATURES = {
    "Ĳ": "IJ",
    "ĳ": "ij",
    "ŉ": "ʼn",
    "ﬀ": "ff",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ﬃ": "ffi",
    "ﬄ": "ffl",
    "ﬅ": "ſt",
    "ﬆ": "st",
    "Ǆ": "DŽ",
    "ǅ": "Dž",
    "ǆ": "dž",
    "Ǉ": "LJ",
    "ǈ": "Lj",
    "ǉ": "lj",
    "Ǌ": "NJ",
    "ǋ": "Nj",
    "ǌ": "nj",
    "Ǳ": "DZ",
    "ǲ": "Dz",
    "ǳ": "dz",
}


def clip_tokenizer_json(
    *,
    vocabulary: Mapping[str, int],
    merges: Sequence[tuple[str, str]],
    start: str,
    end: str,
    cleaning: Cleaning = "lower",
) -> str:
    """The `tokenizer.json` of a byte-pair vocabulary in CLIP's form, where "</w>" ends words.

    `merges` come in order of rank; every text is put between the tokens `start` and `end`.
    """
    model = models.BPE(vocab=dict(vocabulary), merges=list(merges), end_of_word_suffix="</w>", unk_token=end)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(cleaning_steps(cleaning))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in (start, end)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}", special_tokens=[(start, vocabulary[start]), (end, vocabulary[end])]
    )
    return str(tokenizer.to_str())


def cleaning_steps(cleaning: Cleaning) -> list[Any]:
    """The normalizers of one of open_clip's ways to clean a text."""
    steps: list[Any] = [normalizers.Replace(entity, char) for entity, char in ({"&amp;": "&"} | _ENTITIES).items()]
    steps += [normalizers.Replace(ligature, letters) for ligature, letters in _LIGATURES.items()]
    steps += [normalizers.Replace(Regex("[ʼ‘-‛]"), "'"), normalizers.Replace(Regex("[“-‟]"), '"')]
    steps += [normalizers.Replace(Regex(_CONTROLS), ""), normalizers.NFC()]
    if cleaning == "canonicalize":
        steps += [normalizers.Replace("_", " "), normalizers.Replace(Regex(_PUNCTUATION), "")]
    if cleaning != "whitespace":
        steps.append(normalizers.Lowercase())
    return [*steps, normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]


def with_normalizers(tokenizer_json: str, steps: Sequence[Any]) -> str:
    """The tokenizer with further normalizers before its own."""
    tokenizer = Tokenizer.from_str(tokenizer_json)
    own = [] if tokenizer.normalizer is None else [tokenizer.normalizer]
    tokenizer.normalizer = normalizers.Sequence([*steps, *own])
    data = json.loads(tokenizer.to_str())
    return json.dumps(data | {"padding": None, "truncation": None}, ensure_ascii=False)
