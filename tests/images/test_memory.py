"""The memory that images being decoded share, and the peak of decoding as the system measures it."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from PIL import Image

from tests.images.image_files import encode
from viewvote.errors import ImageTooLargeError
from viewvote.images.memory import DecodingMemory
from viewvote.images.photo import ImageLimits, open_photo


def test_shares_are_given_in_order_as_soon_as_they_fit():
    memory, given, hold = DecodingMemory(), [], [threading.Event() for _ in range(3)]

    def ask(number, wanted):
        with memory.share(wanted, of=100):
            given.append(number)
            hold[number].wait(60)

    threads = [threading.Thread(target=ask, args=[i, wanted]) for i, wanted in enumerate((60, 70, 10))]
    for i, thread in enumerate(threads):
        thread.start()
        while len(memory._queue) < i:  # the second waits for the first, and the third for its turn
            pass
    assert (given, memory.taken) == ([0], 60)
    hold[0].set()
    threads[0].join()
    while len(given) < 3:
        pass
    assert (given, memory.taken) == ([0, 1, 2], 80)
    for event in hold:
        event.set()
    for thread in threads:
        thread.join()
    assert memory.taken == 0


def test_a_share_shrinks_and_is_given_back_whole():
    memory = DecodingMemory()
    with memory.share(60, of=100) as share:
        share.shrink(20)
        assert memory.taken == 20
        share.shrink(50)  # it never grows
        assert memory.taken == 20
    assert memory.taken == 0


def test_an_image_alone_may_have_more_than_is_free_beside_nothing():
    with DecodingMemory().share(60, of=10) as share:
        assert share.held == 60


def test_what_cannot_fit_is_refused_with_its_size_and_what_it_needs():
    photo = open_photo(encode(Image.new("RGB", (2000, 1000))), limits=ImageLimits(decode_memory=5_000_000))
    wanted = r"\d+ bytes \(2000 x 1000 pixels, PNG\) needs about 8 MB to decode; the limit is 5 MB"
    with pytest.raises(ImageTooLargeError, match=wanted):
        photo.full()


PEAK = """
import sys
from viewvote.images.photo import open_photo

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024

open_photo(sys.argv[2]).levels({1})  # what is loaded only once does not count
before = peak()
open_photo(sys.argv[1]).levels({int(sys.argv[3])})
print(peak() - before)
"""

SIDE = 4000


def picture(kind):
    grey = Image.linear_gradient("L").resize((SIDE, SIDE))
    if kind == "palette with transparency":
        return encode(grey.convert("P"), transparency=0)
    if kind == "16 bits":
        return encode(Image.fromarray(np.asarray(grey).astype(np.uint16) * 257))
    if kind == "turned JPEG":
        exif = Image.Exif()
        exif[0x0112] = 6
        return encode(grey.convert("RGB"), "JPEG", exif=exif)
    return encode(grey.convert(kind))


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize(
    ("kind", "factor", "most"),
    [  # bytes for each pixel: as stored, and 4 of the level
        ("RGB", 1, 4),
        ("RGB", 4, 4 + 4 / 16),
        ("L", 1, 1 + 4),
        ("L", 4, 1 + 4 / 16),
        ("palette with transparency", 4, 1 + 4 / 16),
        ("16 bits", 1, 2 + 4),
        ("16 bits", 4, 2 + 4 / 16),
        ("RGBA", 4, 4 + 4 / 16),
        ("turned JPEG", 4, 2 * 4 / 16),
    ],
)
def test_decoding_takes_the_pixels_as_stored_the_level_and_a_strip(tmp_path, kind, factor, most):
    (tmp_path / "image").write_bytes(picture(kind))
    small = encode(Image.fromarray(np.zeros((64, 64), np.uint16)) if kind == "16 bits" else Image.new("RGB", (64, 64)))
    (tmp_path / "small").write_bytes(small)
    command = [sys.executable, "-c", PEAK, tmp_path / "image", tmp_path / "small", str(factor)]
    taken = int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    strip = 24_000_000  # converted at a time, and the encoded bytes
    assert taken <= most * SIDE * SIDE + strip
    assert taken <= ImageLimits().decode_memory
