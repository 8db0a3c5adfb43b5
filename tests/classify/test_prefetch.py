"""Images are prepared ahead, each pinned before the next is asked for."""

import io

from tests.conftest import draw_photo
from viewvote.classify import prefetch
from viewvote.classify.prefetch import in_portions, prepare_ahead
from viewvote.errors import ImageTooLargeError, UnreadableImageError
from viewvote.images.photo import ImageLimits
from viewvote.images.spec import ImageSpec
from viewvote.views.sample import prepare

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


def taken_by_the_first_answer(photos, *, ahead):
    taken = []

    def images():
        for photo in photos:
            taken.append(photo)
            yield photo

    stream = prepare_ahead(lambda keyed: prepare(keyed.image, SPEC, n_views=4, seed=0, first=1), images(), ahead=ahead)
    next(stream)
    stream.close()
    return len(taken)


def test_fewer_photos_are_prepared_ahead_where_they_hold_many_pixels(monkeypatch):
    photos = [draw_photo(90, 60)] * 12
    assert taken_by_the_first_answer(photos, ahead=8) == 8
    monkeypatch.setattr(prefetch, "MOST_HELD", 3 * 90 * 60)
    assert taken_by_the_first_answer(photos, ahead=8) == 3
    monkeypatch.setattr(prefetch, "MOST_HELD", 1)
    assert taken_by_the_first_answer(photos, ahead=8) == prefetch.PREPARING


def test_a_portion_ends_where_its_photos_hold_as_many_pixels_as_should_wait(monkeypatch):
    monkeypatch.setattr(prefetch, "MOST_HELD", 2 * 90 * 60)
    held = [prepare(draw_photo(90, 60), SPEC, n_views=4, seed=0, first=1) for _ in range(5)]
    drawn = prepare(draw_photo(90, 60), SPEC, n_views=4, seed=0)  # all of its views: it holds nothing
    broken = UnreadableImageError("damaged")
    samples = [held[0], broken, held[1], drawn, drawn, held[2], held[3], held[4]]
    assert list(in_portions(samples)) == [*samples[:3], None, *samples[3:7], None, samples[7]]
