"""The page in a real browser: photos and labels in, answers out, and why."""

import pytest

from tests.server.browser import BLUE, RED, Page, badges, png
from tests.server.living import COLOURS, Turnstile, running
from viewvote import ToyEncoder
from viewvote.server.page_files import page_files


def test_the_files_of_the_page_weigh_less_than_200_kb():
    assert sum(path.stat().st_size for path in page_files().values()) < 200_000


def test_the_first_visit_shows_the_shipped_photos_answered(pocket):
    pocket.open()
    assert badges(pocket) == ["astronaut", "cat", "coffee cup", "rocket"]
    assert pocket.text("#answer-label") == "astronaut"
    assert pocket.text("#likely").endswith("likely")
    assert pocket.text("#sentence").endswith("confident views say astronaut, and so does the source view.")
    kept = len(pocket.all(".view"))
    assert kept == len(pocket.all("#boxes rect:not(.lost)")) == len(pocket.all("#squares i.in:not(.c0)")) == 4  # of 16
    assert len(pocket.all("#lost canvas")) == 12
    assert pocket.text("#cost").startswith("16 of 16 views, ")
    assert pocket.console() == []


def test_no_request_leaves_the_origin(pocket):
    pocket.open()
    pocket.label("spaceship")
    pocket.find("#show-all").click()
    asked = pocket.requests()
    assert f"{pocket.url}/v1/classify/stream" in asked
    assert [url for url in asked if not url.startswith(f"{pocket.url}/")] == []


def test_other_labels_give_another_answer_without_encoding_again(driver, folder):
    class Counting(ToyEncoder):
        views = 0

        def encode_images(self, views):
            self.views += len(views)
            return super().encode_images(views)

    encoder = Counting()
    with running(encoder) as client:
        page = Page(driver, client.url).open()
        page.give(png("red.png", RED))
        page.wait(lambda: badges(page) == ["red"])
        page.settle()
        before = encoder.views
        page.find('[aria-label="Remove red"]').click()
        page.wait(lambda: badges(page) != ["red"])
        page.settle()
        page.label("red")
        page.wait(lambda: badges(page) == ["red"])
        page.settle()
        assert encoder.views - before <= 2  # the source view alone, asked on its own


def test_what_is_being_typed_counts_already(toy):
    toy.open("#label=green&label=blue")
    toy.give(png("red.png", RED))
    toy.settle()
    assert toy.text("#answer-label") != "red"
    toy.find("#draft").send_keys("red")
    toy.wait(lambda: toy.text("#answer-label") == "red")
    assert toy.texts(".chip span:nth-child(2)") == ["green", "blue"]
    toy.keys("\ue00c")  # Escape
    toy.wait(lambda: toy.text("#answer-label") != "red")


def test_labels_are_taken_from_enter_a_pasted_list_and_a_file(toy, tmp_path):
    toy.open()
    toy.run("document.querySelector('#draft').focus()")
    toy.label("violet")
    toy.run(
        "const t = new DataTransfer(); t.setData('text', 'teal\\npink, hot\\n');"
        "document.querySelector('#draft').dispatchEvent(new ClipboardEvent('paste',"
        " {clipboardData: t, bubbles: true, cancelable: true}))"
    )
    names = tmp_path / "names.txt"
    names.write_text("grey\nred\nbrown\n")
    toy.find("#labels-input").send_keys(str(names))
    expected = [*COLOURS, "violet", "teal", "pink, hot", "grey", "brown"]
    toy.wait(lambda: toy.texts(".chip span:nth-child(2)") == expected)
    toy.find("#draft").send_keys("\ue003")  # Backspace
    toy.wait(lambda: toy.texts(".chip span:nth-child(2)") == expected[:-1])


@pytest.mark.parametrize("kind", ["drop", "paste"])
def test_own_photos_take_the_place_of_the_shipped_ones(toy, kind):
    toy.open()
    toy.give(png("red.png", RED), kind=kind)
    toy.wait(lambda: badges(toy) == ["red"])
    toy.give(png("blue.png", BLUE), kind=kind)
    toy.wait(lambda: badges(toy) == ["red", "blue"])
    assert toy.find('[aria-current="true"]').get_attribute("title") == "blue.png"
    assert not toy.shown("#drop")


def seen(page):
    return len(page.all("#squares i.in"))


def test_the_vote_is_seen_while_it_is_decided_and_nothing_jumps(driver):
    encoder = Turnstile()
    encoder.let(1000)
    with running(encoder, views=64) as client:
        page = Page(driver, client.url).open()
        while encoder.turns.acquire(blocking=False):
            pass
        page.give(png("red.png", RED))
        encoder.let(1)  # the source view
        page.wait(lambda: page.text("#sentence").startswith("The source view looks like red"))
        place = "return document.querySelector('#settings').getBoundingClientRect().top"
        places, counts = [page.run(place)], [seen(page)]
        while page.find("#answer").get_attribute("aria-busy") == "true":
            encoder.let(1)
            page.wait(lambda: seen(page) > counts[-1] or page.find("#answer").get_attribute("aria-busy") == "false")
            if seen(page) > counts[-1]:
                counts.append(seen(page))
                places.append(page.run(place))
                if seen(page) < 64:
                    assert page.text("#cost") == f"{seen(page)} of 64 views so far."
        encoder.let(1000)
    assert len(counts) > 3, counts
    assert counts[-1] == 64
    assert max(places) - min(places) < 1, places


def test_adaptive_stopping_is_visible(pocket):
    pocket.open("#views=adaptive")
    assert pocket.text("#cost").startswith("1 of 64 views, ")
    assert pocket.text("#cost").endswith("No more were needed.")
    assert (seen(pocket), len(pocket.all("#squares i"))) == (1, 64)
    assert pocket.find("#adaptive").is_selected()


def test_pointing_at_a_view_finds_its_box_and_the_other_way_round(pocket):
    from selenium.webdriver import ActionChains

    pocket.open()
    view = pocket.all(".view")[2]
    number = view.get_attribute("data-view")
    ActionChains(pocket.driver).move_to_element(view).perform()
    assert [r.get_attribute("data-view") for r in pocket.all("#boxes rect.on")] == [number]
    assert pocket.run("return document.querySelector('#boxes').classList.contains('pointing')")
    box = pocket.run(
        "const b = document.querySelector('#boxes rect.on').getBoundingClientRect();"
        "return [b.left + 1, b.top + b.height / 2]"
    )
    ActionChains(pocket.driver).move_to_element(pocket.find("h1")).perform()
    assert pocket.all("#boxes rect.on") == []
    pocket.run("window.scrollTo(0, 0)")
    pocket.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
    pocket.wait(lambda: pocket.all(".view.on"))
    assert len(pocket.all("#boxes rect.on")) == len(pocket.all(".view.on")) == 1
    pocket.run("arguments[0].focus()", view)
    assert [r.get_attribute("data-view") for r in pocket.all("#boxes rect.on")] == [number]


@pytest.mark.parametrize("method", ["zero-shot", "marginal", "mean-logits", "mta", "ensemble"])
def test_every_method_can_be_chosen(toy, method):
    toy.open(f"#method={method}")
    toy.give(png("red.png", RED))
    toy.wait(lambda: badges(toy) == ["red"])
    toy.settle()
    assert toy.text("#answer-label") == "red"
    assert toy.text("#sentence").endswith(("and so does the source view.", "The source view settled it: red."))
    assert toy.console() == []


def test_a_template_of_ones_own(toy):
    toy.open()
    toy.run(
        "const t = document.querySelector('#templates'); t.selectedIndex = t.options.length - 1;"
        "t.dispatchEvent(new Event('change'))"
    )
    toy.find("#own-template").send_keys("a drawing of a {}")
    toy.wait(lambda: toy.driver.current_url.endswith("#templates=a+drawing+of+a+%7B%7D"))
    toy.settle()
    assert toy.console() == []


def test_unsure_below_leaves_an_answer_out(pocket):
    pocket.open("#unsure=1")
    best = "astronaut"
    assert pocket.text("#answer-label") == "Unsure"
    assert pocket.text("#sentence").startswith(f"No answer: the best guess, {best}, is only ")
    assert badges(pocket)[0] == "unsure"
