"""Images are prepared ahead, each pinned before the next is asked for."""

import io

from viewvote.classify.prefetch import prepare_ahead
from viewvote.errors import ImageTooLargeError
from viewvote.images.photo import ImageLimits
from viewvote.images.spec import ImageSpec

SPEC = ImageSpec(size=32)


def test_a_stream_reads_no_more_of_a_file_than_the_limit():
    files = [io.BytesIO(bytes(100)), io.BytesIO(bytes(51))]
    stream = prepare_ahead(lambda keyed: keyed.image, files, ahead=2, limits=ImageLimits(max_bytes=50))
    assert [type(result) for result in stream] == [ImageTooLargeError, ImageTooLargeError]
    assert [file.tell() for file in files] == [51, 51]


def test_the_next_image_is_asked_for_when_the_last_is_pinned():
    buffer = bytearray(4)

    def stream():
        for i in range(6):
            buffer[:] = bytes([i] * 4)
            yield buffer

    held = list(prepare_ahead(lambda keyed: keyed.image, stream(), ahead=3))
    assert held == [bytes([i] * 4) for i in range(6)]
