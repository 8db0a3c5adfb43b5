"""Modules of the page by themselves: the words, the stream, the drawing of views."""

import base64

import numpy as np
import pytest
from PIL import Image

from tests.images.pictures import encoded
from tests.server.browser import BLUE, RED


def view(label, *, kept=True, probability=0.9):
    return {
        "box": [0, 0, 1, 1],
        "flip": False,
        "label": label,
        "entropy": 0.1,
        "top_probability": probability,
        "kept": kept,
    }


def outcome(label, tally, *, source, kept, likely=0.94, **more):
    """A prediction whose kept views are `kept`, seen after the source view."""
    views = [view(source, kept=False, probability=0.41), *map(view, kept)]
    scores = {name: votes / len(kept) for name, votes in tally.items()}
    return {
        "label": label,
        "scores": scores,
        "votes": tally,
        "probability": likely,
        "confidence": 0.5,
        "views_used": len(views),
        "trace": {"views": views},
    } | more


OUTCOMES = {
    "2 of 3 confident views say cat, and so does the source view.": outcome(
        "cat", {"cat": 2, "dog": 1}, source="cat", kept=["cat", "dog", "cat"]
    ),
    "Both confident views say cat, and so does the source view.": outcome(
        "cat", {"cat": 2}, source="cat", kept=["cat", "cat"]
    ),
    "All 3 confident views say cat, and so does the source view.": outcome(
        "cat", {"cat": 3}, source="cat", kept=["cat", "cat", "cat"]
    ),
    "2 of 3 confident views say ferry; the source view looked more like dock (41%).": outcome(
        "ferry", {"ferry": 2, "dock": 1}, source="dock", kept=["ferry", "dock", "ferry"]
    ),
    "The most confident of two views says cat, and so does the source view.": outcome(
        "cat", {"cat": 1}, source="cat", kept=["cat"]
    ),
    "Together, 2 confident views say cat, and so does the source view.": outcome(
        "cat", {"cat": 1, "dog": 1}, source="cat", kept=["cat", "dog"], votes=None
    ),
    "The source view settled it: cat.": outcome(
        "cat", {"cat": 1}, source="cat", kept=["cat"], trace={"views": [view("cat")]}
    ),
    "No answer: the best guess, leopard, is only 38% likely.": outcome(
        None, {"leopard": 1}, source="cat", kept=["leopard"], likely=0.38
    ),
    "None of your labels fits. Closest: boat, 12%.": outcome(
        "none of these",
        {"none of these": 0, "boat": 1},
        source="boat",
        kept=["boat"],
        likely=0.85,
        probabilities={"none of these": 0.85, "boat": 0.12, "car": 0.03},
    ),
    "The source view settled it: none of these.": outcome(  # a label of the reader's own
        "none of these",
        {"none of these": 1},
        source="none of these",
        kept=["cat"],
        trace={"views": [view("none of these")]},
    ),
}


@pytest.mark.parametrize("expected", OUTCOMES)
def test_one_sentence_is_true_for_every_outcome(toy, expected):
    toy.open()
    script = "import('/static/words.js').then((w) => arguments[1](w.sentence(arguments[0])))"
    found = toy.driver.execute_async_script(script, OUTCOMES[expected])
    assert "".join(piece["b"] if isinstance(piece, dict) else piece for piece in found) == expected


def test_the_stream_is_read_in_whatever_pieces_it_arrives(toy):
    toy.open()
    script = """
    const done = arguments[1];
    (async () => {
      const { events } = await import("/static/sse.js");
      const bytes = new TextEncoder().encode(arguments[0]);
      const results = [];
      for (const size of [1, 2, 3, 7, 1000]) {
        const body = new ReadableStream({
          start(c) { for (let i = 0; i < bytes.length; i += size) c.enqueue(bytes.slice(i, i + size)); c.close(); },
        });
        const found = [];
        for await (const event of events(body)) found.push([event.event, event.data]);
        results.push(found);
      }
      return results;
    })().then(done, (error) => done(String(error)));
    """
    stream = ': waiting\n\nevent: round\ndata: {"leader": "Käse"}\n\nevent: done\r\ndata: {}\r\n\r\nevent: cut\ndata: {'
    found = toy.driver.execute_async_script(script, stream)
    assert found == [[["round", {"leader": "Käse"}], ["done", {}]]] * 5


def test_a_view_is_drawn_from_its_box_and_mirrored(toy):
    left_red = np.zeros((40, 40, 3), dtype=np.uint8)
    left_red[:, :20] = RED
    left_red[:, 20:] = BLUE
    data = encoded(Image.fromarray(left_red))
    script = """
    const done = arguments[1];
    (async () => {
      const { drawView, look, newPhoto, unfold } = await import("/static/photos.js");
      const bytes = Uint8Array.from(atob(arguments[0]), (c) => c.charCodeAt(0));
      const photo = newPhoto(new File([bytes], "p.png", { type: "image/png" }));
      await look(photo);
      photo.bitmap = await unfold(photo);
      const draw = (box, flip) => {
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = 8;
        drawView(canvas, photo, { box, flip });
        const context = canvas.getContext("2d");
        return [1, 6].map((x) => [...context.getImageData(x, 4, 1, 1).data].slice(0, 3));
      };
      return [draw([0, 0, 40, 40], false), draw([0, 0, 40, 40], true), draw([22, 0, 40, 40], false)];
    })().then(done, (error) => done(String(error)));
    """
    toy.open()
    drawn = toy.driver.execute_async_script(script, base64.b64encode(data).decode())
    red, blue = list(RED), list(BLUE)
    assert drawn == [[red, blue], [blue, red], [blue, blue]]
