"""What goes wrong on the page is said kindly, where it happened, and the rest goes on."""

from tests.images.pictures import encoded, picture
from tests.server.browser import BLUE, GREEN, RED, Page, badges, png
from tests.server.living import COLOURS, Turnstile, running
from viewvote.server.settings import Limits


def test_what_is_no_photo_says_so_and_the_others_go_on(toy):
    toy.open()
    toy.give(png("red.png", RED), ("notes.txt", "text/plain", b"hello"), png("blue.png", BLUE))
    toy.wait(lambda: badges(toy) == ["red", "no answer", "blue"])
    toy.find("#show-one").click()
    toy.find('[title="notes.txt"]').click()
    assert "cannot decode notes.txt: it is not an image in a known format." in toy.text("#stage-words")
    assert toy.text("#answer-label") == "No answer"
    assert toy.violations() == []
    toy.find('[title="blue.png"]').click()
    assert (toy.shown("#stage-words"), toy.text("#answer-label")) == (False, "blue")


def test_a_photo_that_is_too_large_is_not_sent(driver):
    with running(limits=Limits(bytes=60_000, pixels=100 * 100)) as client:
        page = Page(driver, client.url).open()
        page.give(("huge.png", "image/png", bytes(70_000)))
        page.wait(lambda: "huge.png has 70,000 bytes; the limit is 60,000 bytes." in page.text("#stage-words"))
        page.give(("wide.png", "image/png", encoded(picture(RED, (200, 100)))))
        page.wait(lambda: "200 x 100 pixels; the limit is 10,000 pixels" in page.text("#stage-words"))


def test_without_labels_the_page_asks_for_some(toy):
    toy.open()
    for _ in COLOURS:
        toy.find("#draft").send_keys("\ue003")
    toy.wait(lambda: toy.shown("#labels-words"))
    assert "No labels yet" in toy.text("#labels-words")
    assert toy.text("#sentence") == "Type a few labels to choose from."
    toy.label("red")
    toy.wait(lambda: toy.text("#answer-label") == "red")
    assert toy.console() == []


def test_a_full_service_is_asked_again(driver):
    encoder = Turnstile()
    encoder.let(1000)
    with running(encoder, limits=Limits(images=1), max_queue=1) as client:
        page = Page(driver, client.url).open(settle=False)
        page.wait(lambda: len(badges(page)) == 4)
        page.settle()
        while encoder.turns.acquire(blocking=False):
            pass
        page.give(png("red.png", RED), png("green.png", GREEN))
        page.find("#show-one").click()
        page.wait(lambda: "waiting" in badges(page))
        page.find(f'[title="{["red.png", "green.png"][badges(page).index("waiting")]}"]').click()
        page.wait(lambda: "The service is full" in (page.text("#stage-words") or ""))
        assert "Try now" in page.text("#stage-words")
        encoder.let(1000)
        page.wait(lambda: badges(page) == ["red", "green"])


def test_a_service_that_goes_away_is_waited_for(driver):
    with running() as client:
        page = Page(driver, client.url).open()
        port = client.port
    page.give(png("red.png", RED))
    page.wait(lambda: page.shown("#notice"))
    assert page.text("#notice-text").startswith("The service does not answer.")
    assert "the service does not answer" in page.text("#stage-words")
    assert badges(page) == ["waiting"]
    with running(port=port):
        page.wait(lambda: badges(page) == ["red"])
        assert not page.shown("#notice")


def test_a_service_with_a_key_asks_for_it(driver):
    key = "correct horse battery"
    with running(api_keys=(key,)) as client:
        page = Page(driver, client.url).open(settle=False)
        page.wait(lambda: page.shown("#key"))
        page.find("#key").send_keys("wrong\n")
        page.wait(lambda: "not accepted" in page.text("#notice-text"))
        page.find("#key").send_keys(f"{key}\n")
        page.settle()
        assert len(badges(page)) == 4
        assert key not in page.driver.current_url
        page.run("sessionStorage.clear()")


def test_a_wrong_address_is_the_defaults(toy):
    toy.open("#views=9999&keep=7&method=nothing&model=evil&unsure=x&label=%20red%20&label=red&label=")
    assert toy.texts(".chip span:nth-child(2)") == ["red"]
    assert (toy.text("#views-shown"), toy.text("#keep-shown")) == ("8", "30%")
    assert toy.console() == []
