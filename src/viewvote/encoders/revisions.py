"""Which weights ship with this release: a short hash of each model's files."""

from hashlib import sha256

from ..files import shipped

SHIPPED = ("pocket", "clip-b16")
HEX = 12


def shipped_revisions() -> dict[str, str]:
    """The revision of each shipped model; every byte of what it computes with is in it, its card is not."""
    revisions = {}
    for model in SHIPPED:
        digest = sha256()
        for path in sorted(shipped(f"models/{model}").iterdir()):
            if path.suffix != ".md":
                content = path.read_bytes()
                digest.update(f"{path.name} {len(content)}\n".encode() + content)
        revisions[model] = digest.hexdigest()[:HEX]
    return revisions
