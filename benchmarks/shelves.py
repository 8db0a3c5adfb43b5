"""Small sources in every form: pictures of one colour each, whose labels are known."""

import io
import json
import tarfile

from PIL import Image

COLOURS = {"red": (250, 0, 0), "green": (0, 250, 0), "blue": (0, 0, 250)}
LABELS = list(COLOURS)


def picture(i, *, size=(30, 20)):
    """The encoded bytes of picture i: red, green, blue, red, ..., each a little different."""
    colour = [max(0, value - i // 3 % 100) for value in COLOURS[LABELS[i % 3]]]
    out = io.BytesIO()
    Image.new("RGB", size, tuple(colour)).save(out, "PNG")
    return out.getvalue()


def label(i):
    """What picture i shows."""
    return LABELS[i % 3]


def write_tar(path, members, *, form=tarfile.PAX_FORMAT, mode="w"):
    """A tar archive of name -> bytes, or name -> TarInfo for what is no file."""
    with tarfile.open(path, mode, format=form) as archive:
        for name, data in members.items():
            if isinstance(data, tarfile.TarInfo):
                archive.addfile(data)
                continue
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def write_shard(path, numbers):
    """A WebDataset shard with a picture, a text and JSON for each number."""
    members = {}
    for i in numbers:
        members[f"{i:04}.png"] = picture(i)
        members[f"{i:04}.txt"] = label(i).encode()
        members[f"{i:04}.json"] = json.dumps({"id": i, "url": f"https://example.org/{i}"}).encode()
    return write_tar(path, members)


def labels_of(classifier, source):
    """Key -> label, or the error's text."""
    items = list(source)
    answers = classifier.predict_many(items, on_error="return")
    return {item.key: getattr(found, "label", str(found)) for item, found in zip(items, answers, strict=True)}
