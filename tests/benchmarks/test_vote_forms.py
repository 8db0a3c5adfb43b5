"""The forms of the vote and ZERO on every image: what each decides, and the tables of the pages."""

import numpy as np
import pytest

from benchmarks import every_image, vote_forms
from benchmarks.vote_forms import FORMS, PLAIN, SHIPPED, anchored, averaged, softened, tempered
from viewvote.methods import ViewLogits
from viewvote.methods.anchored import Anchored
from viewvote.methods.zero import Zero

from .test_sections import BETTER, RIGHT, of_the_page

# Ten views of three labels, of which 0.3 are kept: the source view says label 0, the surest crops 1, 1 and 2.
SOURCE = [0.50, 0.30, 0.20]
KEPT = [[0.02, 0.97, 0.01], [0.03, 0.95, 0.02], [0.005, 0.005, 0.99]]
VIEWS = np.array([SOURCE, *KEPT, *[[0.4, 0.3, 0.3]] * 6])


def views(likeness=0.0):
    return ViewLogits(np.log(VIEWS).astype(np.float32), likeness=likeness)


def best(scores):
    return int(np.argmax(scores))


@pytest.mark.parametrize("part", [0.0, 0.25, 0.5, 1.0])
def test_votes_may_be_replaced_by_mean_probabilities_in_part(part):
    shares = np.array([0, 2 / 3, 1 / 3])
    weight = 1 / (1 - 0.4) ** 5  # as it ships
    scores = (1 - part) * shares + part * np.mean(KEPT, axis=0) + weight * np.array(SOURCE)
    assert softened(part)(views(0.4)) == best(scores) == 0  # 12.9 p(source) decides
    scores = (1 - part) * shares + part * np.mean(KEPT, axis=0) + np.array(SOURCE)
    assert softened(part)(views()) == best(scores) == 1


def test_without_a_vote_the_source_view_has_its_part_of_the_mean():
    # 0.5 x 0.50 + 0.5 x 0.018 = 0.259 for label 0, 0.471 for 1; with 0.9 of it 0.452 and 0.334
    assert averaged(0.5)(views()) == 1
    assert averaged(0.9)(views()) == 0


def test_an_unsure_source_view_has_more_say_where_it_is_divided_by_its_maximum():
    # label 1 has 2/3 of the votes: 1.9 x 0.50 = 0.95 against 2/3 + 1.9 x 0.30 = 1.24
    # divided by 0.5: 3.8 x 0.50 = 1.90 against 2/3 + 3.8 x 0.30 = 1.81
    likeness = 1 - (1 / 1.9) ** 0.2
    assert tempered(0)(views(likeness)) == 1
    assert tempered(-1)(views(likeness)) == 0
    assert tempered(0.5)(views(likeness)) == 1


def test_the_shipped_form_and_zero_are_the_packages_own():
    for likeness in (0.0, 0.2, 0.4):
        assert FORMS[SHIPPED](views(likeness)) == Anchored().decide(views(likeness)).index
        assert FORMS["ZERO"](views(likeness)) == Zero().decide(views(likeness)).index
    assert anchored(keep=0.1)(views()) == 2  # the surest view alone
    assert anchored(times=20)(views()) == 0


def test_a_form_has_a_row_of_its_mean_its_worst_set_and_all_images():
    plain = dict.fromkeys((PLAIN, *FORMS), RIGHT)
    made = list(vote_forms.table([plain | {"ZERO": BETTER}, plain | {"ZERO": RIGHT[::-1]}]))
    assert made[2] == "| ZERO | +15.0 | +0.0 | 7 / 4 |"
    assert made[3] == f"| {SHIPPED} | +0.0 | +0.0 | 0 / 0 |"
    assert len(made) == 2 + len(FORMS)
    assert made[:2] == of_the_page("benchmarks.vote_forms", "pocket")[:2]


def test_zero_on_every_image_has_intervals_stars_and_p_of_the_larger_keep():
    every = np.ones(10, dtype=bool)
    made = list(every_image.table([("a", 7, {0.0: RIGHT, 0.1: every & False, 0.3: BETTER})]))
    cells = "60.0 (31.3-83.2) | 0.0* (0.0-27.8) | 90.0 (59.6-98.2)"
    assert made[2] == f"| a | 7 | 10 | {cells} | 0.125 (3 gained, 0 lost) |"  # 2 x 1/8 less half of what was observed
    assert made[:2] == of_the_page("benchmarks.every_image", "pocket")[:2]
