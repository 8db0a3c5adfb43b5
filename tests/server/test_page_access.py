"""Everybody can use the page: by keyboard, on a phone, in the dark, with a screen reader."""

import pytest


def focus(page):
    return page.run(
        "const e = document.activeElement;"
        " return e.id || e.title || e.getAttribute('aria-label') || e.textContent || e.tagName"
    )


def test_the_keyboard_is_enough(toy):
    tab, right, delete = "\ue004", "\ue014", "\ue017"
    toy.open()
    toy.keys("/")
    assert focus(toy) == "draft"
    toy.keys("red or so", "\n")
    assert toy.texts(".chip span:nth-child(2)")[-1] == "red or so"
    toy.run("document.querySelector('.frame[aria-current=true]').focus()")
    toy.keys(right, right)
    assert focus(toy) == "coffee.jpg"
    toy.keys("\n")
    assert toy.find('[aria-current="true"]').get_attribute("title") == "coffee.jpg"
    assert toy.find("#photo").get_attribute("alt") == "coffee.jpg"
    toy.keys(delete)
    assert [f.get_attribute("title") for f in toy.all(".frame")] == ["astronaut.jpg", "cat.jpg", "rocket.jpg"]
    assert focus(toy) == "rocket.jpg"
    toy.settle()
    visited = []
    for _ in range(60):
        toy.keys(tab)
        visited.append(focus(toy))
    for name in ("add", "views-count", "adaptive", "keep", "method", "templates", "copy-link", "save-json", "theme"):
        assert name in visited, visited
    assert any("View" in name or "source view" in name for name in visited), visited


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1360])
def test_axe_finds_nothing_to_complain_about(pocket, width, dark):
    pocket.open(width=width, dark=dark)
    background = pocket.run("return getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(19, 20, 22)" if dark else "rgb(251, 251, 250)")
    assert pocket.run("return document.documentElement.scrollWidth") <= width
    assert pocket.violations() == []
    pocket.find("#theme").click()
    assert pocket.run("return getComputedStyle(document.body).backgroundColor") != background
    assert pocket.violations() == []
    pocket.run("localStorage.clear()")
    while pocket.shown("#remove-photo"):
        pocket.find("#remove-photo").click()
        pocket.run("return new Promise(requestAnimationFrame)")
    assert "Drop photos here" in pocket.text("#stage-words")
    assert pocket.violations() == []


def test_on_a_phone_the_order_is_photo_labels_answer_views(pocket):
    pocket.open(width=390, height=844)
    tops = [
        pocket.run("return document.querySelector(arguments[0]).getBoundingClientRect().top", s)
        for s in ("#stage", "#film", "#label-box", "#answer", "#views", "#settings", "#code")
    ]
    assert tops == sorted(tops)
    assert pocket.run("const v = document.querySelector('#views'); return v.scrollWidth > v.clientWidth")
