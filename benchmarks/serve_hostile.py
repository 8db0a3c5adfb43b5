"""Hostile requests, made from a seed: a service must answer each with a documented status or close, and live."""

import asyncio
import base64
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from time import perf_counter

import numpy as np
from PIL import Image

from fuzz.mutators import mutated_bytes

ALLOWED = {100, 200, 304, 400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 503, 504}
"""Every documented status but 500, and the protocol's own 100 and 400; 0 is a connection that was closed."""

ROUTES = ("/v1/classify", "/v1/classify/stream", "/v1/explain", "/", "/models/pocket")
KINDS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "ICO", "TGA")

DAWDLERS = 50
"""Clients that send a body one byte a second while all the others ask."""


def seeds_of(folder: Path | None) -> list[bytes]:
    """Small pictures in every format, and the files of a folder."""
    pixels = np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8)
    found = []
    for kind in KINDS:
        out = BytesIO()
        Image.fromarray(pixels).save(out, kind)
        found.append(out.getvalue())
    files = sorted(folder.iterdir()) if folder else []
    found += [path.read_bytes() for path in files if path.stat().st_size < 2_000_000]
    return found


def image_request(rng: random.Random, images: list[bytes]) -> bytes:
    """A damaged image in one of the three shapes."""
    image = mutated_bytes(rng.choice(images), rng)
    route = rng.choice(ROUTES[:3])
    match rng.randrange(3):
        case 0:
            return request(route, image, "image/png")
        case 1:
            parts = b"".join(
                b'--b\r\nContent-Disposition: form-data; name="image"; filename="x"\r\n\r\n' + one + b"\r\n"
                for one in [image, rng.choice(images)][: rng.randint(1, 2)]
            )
            return request(route, parts + b"--b--\r\n", "multipart/form-data; boundary=b")
    body = {"images": [base64.b64encode(image).decode()], "views": rng.choice([1, 2, 4, "adaptive"])}
    return request(route, json.dumps(body).encode(), "application/json")


def option_request(rng: random.Random, images: list[bytes]) -> bytes:
    """Options that are not what they should be."""
    names = ["labels", "templates", "views", "stop", "keep", "method", "augment", "teacher", "seed", "top", "x"]
    names += ["timeout", "images", "settings"]
    odd = [None, True, -1, 0, 1e308, 10**30, "", "{}", "\ud800", "\0", "a" * 5000, [], [[]], {}, ["a"] * 2000]
    odd += [float("nan"), "zero", "adaptive", ["cat", "dog"], "http://127.0.0.1/", "../../x"]
    odd += [
        {"tie": "random"},
        {"weight": 1e308},
        {"zero_temperature": "eps-fp16", "tie": None},
        {"keep": -1},
        {"a" * 50: 1},
        {"cat": ["a cat", "\ud800"], "\udfff": "dog"},
        {"cat": ["a" * 400], "dog": [], "\0": {}},
        {str(i): ["a cat"] * 50 for i in range(200)},
    ]
    body = {"images": [base64.b64encode(images[1]).decode()], "labels": ["cat", "dog"], "views": 1}
    body |= {rng.choice(names): rng.choice(odd) for _ in range(rng.randint(1, 3))}
    text = json.dumps(body).encode()
    return request(rng.choice(ROUTES), mutated_bytes(text, rng) if rng.random() < 0.3 else text, "application/json")


def form_request(rng: random.Random, images: list[bytes]) -> bytes:
    """A damaged form."""
    body = (
        b'--b\r\nContent-Disposition: form-data; name="labels"\r\n\r\ncat,dog\r\n'
        b'--b\r\nContent-Disposition: form-data; name="image"; filename="x"\r\n\r\n' + images[1] + b"\r\n--b--\r\n"
    )
    kind = "multipart/form-data" + rng.choice(["; boundary=b", "; boundary=b", "", "; boundary=" + "b" * 300])
    return request(rng.choice(ROUTES[:3]), mutated_bytes(body, rng), kind)


def header_request(rng: random.Random, images: list[bytes]) -> bytes:
    """Headers that are too many, too long, twice, or wrong about the body."""
    body = images[1]
    extra = rng.choice(
        [
            "X-A: " + "a" * rng.choice([100, 60_000, 200_000]) + "\r\n",
            "".join(f"X-{i}: {i}\r\n" for i in range(rng.choice([100, 10_000]))),
            "Content-Length: 1\r\nContent-Length: 2\r\n",
            "Transfer-Encoding: chunked\r\n",
            f"Origin: {rng.choice(['null', 'http://x', chr(1)])}\r\n",
            f"Host: {rng.choice(['evil', '', '[', '127.0.0.1:x'])}\r\n",
            "Expect: 100-continue\r\n",
            "Connection: upgrade\r\nUpgrade: websocket\r\n",
            "Accept: \xff\r\n",
        ]
    )
    length = rng.choice([len(body), len(body) + rng.randint(1, 100), max(0, len(body) - 10), 10**12, -1])
    path = rng.choice([*ROUTES, "/%00", "/static/..%2f..", "//", "/v1/classify?" + "a=b&" * rng.choice([1, 5000])])
    method = rng.choice(["POST", "GET", "PUT", "BREW", "OPTIONS", "HEAD"])
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{extra}Content-Type: image/png\r\n"
    head += f"Content-Length: {length}\r\n\r\n"
    return head.encode("latin-1") + body


def chunked_request(rng: random.Random, images: list[bytes]) -> bytes:
    """A body in chunks whose sizes may be wrong, whose end may be missing, or that are very many."""
    body = mutated_bytes(images[1], rng)
    step = rng.choice([1, 7, 512, 100_000])
    chunks = [body[i : i + step] for i in range(0, len(body), step)]
    lie = rng.choice([0, 0, 1, -1, 10**9])
    framed = b"".join(b"%x\r\n%s\r\n" % (max(0, len(chunk) + lie), chunk) for chunk in chunks)
    end = rng.choice([b"0\r\n\r\n", b"0\r\nX-Trailer: 1\r\n\r\n", b"", b"zz\r\n"])
    head = f"POST {rng.choice(ROUTES)} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: image/png\r\nConnection: close\r\n"
    return head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + framed + end


def noise(rng: random.Random, images: list[bytes]) -> bytes:
    """What is no HTTP at all, or nearly."""
    good = request("/v1/classify", images[1], "image/png")
    return rng.randbytes(rng.randint(1, 400)) if rng.random() < 0.5 else mutated_bytes(good[:120], rng) + good[120:]


MAKERS: tuple[tuple[Callable[[random.Random, list[bytes]], bytes], int], ...] = (
    (image_request, 70),
    (option_request, 12),
    (form_request, 8),
    (header_request, 4),
    (chunked_request, 3),
    (noise, 3),
)


def request(path: str, body: bytes, kind: str) -> bytes:
    """A well-formed request around a body."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nConnection: close\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def fire(port: int, sent: bytes, *, slow: bool, whole: bool) -> int:
    """The status of the answer, 0 where the connection was closed without one or the client left.

    -1 is a request that is whole and got no answer within a minute.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(60 if whole else 1.5):
            if slow:
                for i in range(0, min(len(sent), 200), 20):
                    writer.write(sent[i : i + 20])
                    await writer.drain()
                    await asyncio.sleep(0.02)
                if len(sent) % 2:
                    return 0  # and away
                writer.write(sent[200:])
            else:
                writer.write(sent)
            await writer.drain()
            head = await reader.read(4096)
            while await reader.read(65536):
                pass
            found = re.match(rb"HTTP/1\.1 (\d{3})", head)
            return int(found.group(1)) if found else 0
    except TimeoutError:
        return -1 if whole else 0
    except OSError:
        return 0
    finally:
        writer.close()


async def dawdle(port: int) -> int:
    """The status of a request whose body comes a byte a second, 0 where the connection is closed without one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(90):
            writer.write(request("/v1/classify", b"x" * 1000, "image/png")[:-1000])
            answered = asyncio.ensure_future(reader.read(4096))
            while not answered.done():
                writer.write(b"x")
                await asyncio.wait({answered}, timeout=1.0)
            found = re.match(rb"HTTP/1\.1 (\d{3})", answered.result())
            return int(found.group(1)) if found else 0
    except TimeoutError:
        return -1
    except OSError:
        return 0
    finally:
        writer.close()


async def campaign(
    port: int, requests: int, *, seed: int, folder: Path | None, clients: int = 16
) -> tuple[Counter[int], Counter[int]]:
    """Fires the requests; returns the statuses of their answers, and those of the dawdlers.

    Prints what came back; anything undocumented is printed with the number that makes it.
    """
    images = seeds_of(folder)
    statuses: Counter[int] = Counter()
    kinds: Counter[str] = Counter()
    slowest = 0.0
    numbers = iter(range(requests))
    started = perf_counter()

    async def client() -> None:
        nonlocal slowest
        for number in numbers:
            rng = random.Random(f"{seed}:{number}")
            (maker,) = rng.choices([m for m, _ in MAKERS], [w for _, w in MAKERS])
            sent = maker(rng, images)
            start = perf_counter()
            whole = maker not in (header_request, chunked_request, noise)
            status = await fire(port, sent, slow=rng.random() < 0.02, whole=whole)
            slowest = max(slowest, perf_counter() - start)
            statuses[status] += 1
            kinds[maker.__name__] += 1
            if status not in ALLOWED | {0}:
                print(json.dumps({"bad": status, "seed": seed, "number": number, "maker": maker.__name__}), flush=True)
            if sum(statuses.values()) % 10_000 == 0:
                print(json.dumps({"done": sum(statuses.values()), "statuses": statuses}), flush=True)

    dawdled = [asyncio.ensure_future(dawdle(port)) for _ in range(DAWDLERS)]
    await asyncio.gather(*[client() for _ in range(clients)])
    rate = round(requests / (perf_counter() - started), 1)
    kept_waiting = Counter(await asyncio.gather(*dawdled))
    row = {"requests": requests, "per_second": rate, "kinds": kinds, "statuses": dict(sorted(statuses.items()))}
    row |= {"dawdlers": kept_waiting}
    print(json.dumps(row | {"slowest_seconds": round(slowest, 2)}))
    return statuses, kept_waiting
