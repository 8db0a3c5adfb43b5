"""AugMix: the ranges of its nine operations by hand, its mix against the authors' order of steps."""

import numpy as np
import pytest
from PIL import Image

from tests.conftest import draw_photo
from viewvote.classify.classifier import Classifier
from viewvote.errors import UnknownNameError
from viewvote.images.spec import ImageSpec
from viewvote.rng import sample_rng
from viewvote.views.augmix import OPERATIONS, Mix, Step, apply, mix_view, sample_mixes
from viewvote.views.sample import prepare

MEAN, STD = np.array((0.48145466, 0.4578275, 0.40821073)), np.array((0.26862954, 0.26130258, 0.27577711))
ALMOST_ONE = 1 - 1e-9


@pytest.fixture(scope="module")
def crop():
    return draw_photo(224, 224, seed=3)


@pytest.fixture(scope="module")
def mixes():
    return sample_mixes(4000, sample_rng(seed=0, dataset="", key="many", stream="augmix"))


def steps(mixes):
    return [step for mix in mixes for chain in mix.chains for step in chain]


def pixels(image):
    return np.asarray(image).astype(int)


def test_the_nine_operations_are_those_of_augmix_without_its_test_set_ones():
    assert OPERATIONS == (
        "autocontrast",
        "equalize",
        "posterize",
        "rotate",
        "solarize",
        "shear_x",
        "shear_y",
        "translate_x",
        "translate_y",
    )


def test_blend_and_weights_have_the_right_distributions(mixes):
    blend, weights = np.array([mix.blend for mix in mixes]), np.array([mix.weights for mix in mixes])
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
    assert weights.min() >= 0
    # Beta(1, 1): mean 1/2, variance 1/12. Dirichlet(1, 1, 1): means 1/3, variances 1/18, P(w > t) = (1 - t)^2.
    assert blend.mean() == pytest.approx(0.5, abs=0.02)
    assert blend.var() == pytest.approx(1 / 12, abs=0.005)
    np.testing.assert_allclose(weights.mean(axis=0), 1 / 3, atol=0.02)
    np.testing.assert_allclose(weights.var(axis=0), 1 / 18, atol=0.005)
    np.testing.assert_allclose((weights > 0.6).mean(axis=0), 0.16, atol=0.02)


def test_chains_have_one_to_three_operations_each_as_likely(mixes):
    lengths = [len(chain) for mix in mixes for chain in mix.chains]
    assert {len(mix.chains) for mix in mixes} == {3}
    np.testing.assert_allclose(np.bincount(lengths, minlength=4) / len(lengths), [0, 1 / 3, 1 / 3, 1 / 3], atol=0.02)
    drawn = steps(mixes)
    share = [sum(step.op == op for step in drawn) / len(drawn) for op in OPERATIONS]
    np.testing.assert_allclose(share, 1 / 9, atol=0.01)


def test_levels_are_uniform_between_a_tenth_and_one_and_half_the_signs_are_negative(mixes):
    levels = np.array([step.level for step in steps(mixes)])
    assert 0.1 <= levels.min() < 0.101
    assert 0.999 < levels.max() < 1
    assert levels.mean() == pytest.approx(0.55, abs=0.01)
    assert np.mean([step.sign for step in steps(mixes)]) == pytest.approx(0, abs=0.03)


def test_a_mix_does_not_depend_on_how_many_are_drawn():
    few, many = (sample_mixes(n, sample_rng(seed=1, dataset="d", key="k", stream="augmix")) for n in (3, 9))
    assert many[:3] == few


@pytest.mark.parametrize(("level", "degrees"), [(0.1, 0), (0.34, 1), (0.67, 2), (ALMOST_ONE, 2)])
def test_rotations_are_whole_degrees_up_to_two(crop, level, degrees):
    for sign in (1, -1):
        expected = crop.rotate(sign * degrees, resample=Image.Resampling.BILINEAR)
        np.testing.assert_array_equal(pixels(apply(crop, Step("rotate", level, sign))), pixels(expected))


@pytest.mark.parametrize(("level", "threshold"), [(0.1, 254), (0.5, 244), (ALMOST_ONE, 231)])
def test_solarize_inverts_from_231_to_254_on(level, threshold):
    ramp = Image.fromarray(np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2))
    out = pixels(apply(ramp, Step("solarize", level, 1)))[0, :, 0]
    values = np.arange(256)
    np.testing.assert_array_equal(out, np.where(values < threshold, values, 255 - values))


@pytest.mark.parametrize("level", [0.1, 0.5, ALMOST_ONE])
def test_posterize_always_keeps_four_bits(crop, level):
    np.testing.assert_array_equal(pixels(apply(crop, Step("posterize", level, 1))), pixels(crop) & 0xF0)


@pytest.mark.parametrize(("level", "shift"), [(0.1, 0), (0.3, 2), (0.6, 4), (ALMOST_ONE, 7)])
def test_translations_are_whole_pixels_up_to_seven_and_leave_black(crop, level, shift):
    right = pixels(apply(crop, Step("translate_x", level, -1)))
    np.testing.assert_array_equal(right[:, shift:], pixels(crop)[:, : 224 - shift])
    assert (right[:, :shift] == 0).all()
    up = pixels(apply(crop, Step("translate_y", level, 1)))
    np.testing.assert_array_equal(up[: 224 - shift], pixels(crop)[shift:])
    assert (up[224 - shift :] == 0).all()


@pytest.mark.parametrize("level", [0.1, ALMOST_ONE])
def test_shears_move_each_row_or_column_by_its_share(level):
    ramp = np.zeros((224, 224, 3), dtype=np.uint8)
    ramp[:] = np.arange(224, dtype=np.uint8)[None, :, None]
    for sign in (1, -1):
        for op, image in (("shear_x", ramp), ("shear_y", ramp.transpose(1, 0, 2))):
            out = pixels(apply(Image.fromarray(image), Step(op, level, sign)))
            out = out if op == "shear_x" else out.transpose(1, 0, 2)
            row, column = 200, 100
            exact = column + sign * 0.03 * level * (row + 0.5)
            assert exact - 1.01 < out[row, column, 0] <= exact + 0.01  # Pillow's bilinear filter rounds down


def test_autocontrast_and_equalize_stretch_the_range():
    grey = Image.fromarray(np.linspace(100, 150, 224 * 224).astype(np.uint8).reshape(224, 224)).convert("RGB")
    for op in ("autocontrast", "equalize"):
        out = pixels(apply(grey, Step(op, 0.5, 1)))
        assert (out.min(), out.max()) == (0, 255)


def test_the_mix_is_the_authors_in_normalised_space_to_half_a_grey_level(crop):
    def normalised(image):
        return (pixels(image) / 255 - MEAN) / STD

    for mix in sample_mixes(12, sample_rng(seed=2, dataset="", key="mix", stream="augmix")):
        mixed = np.zeros((224, 224, 3))
        for weight, chain in zip(mix.weights, mix.chains, strict=True):
            drawn = crop.copy()
            for step in chain:
                drawn = apply(drawn, step)
            mixed += weight * normalised(drawn)
        theirs = mix.blend * normalised(crop) + (1 - mix.blend) * mixed
        grey_levels = (theirs * STD + MEAN) * 255
        assert np.abs(pixels(mix_view(crop, mix)) - grey_levels).max() <= 0.5 + 1e-3


def test_a_mix_of_nothing_but_itself_is_the_view(crop):
    chains = ((Step("equalize", 0.5, 1),),) * 3
    np.testing.assert_array_equal(mix_view(crop, Mix(1.0, (0.2, 0.3, 0.5), chains)), pixels(crop))
    only = mix_view(crop, Mix(0.0, (0.0, 1.0, 0.0), chains))
    np.testing.assert_array_equal(only, pixels(apply(crop, chains[1][0])))


def test_samples_mix_the_very_crops_and_never_the_source_view():
    photo, spec = draw_photo(300, 260), ImageSpec(size=64)
    plain, mixed = (prepare(photo, spec, n_views=6, seed=0, augment=augment) for augment in ("crops", "augmix"))
    assert [(v.box, v.flip) for v in plain.views] == [(v.box, v.flip) for v in mixed.views]
    assert [v.mix is None for v in mixed.views] == [True, *[False] * 5]
    np.testing.assert_array_equal(plain.pixels[0], mixed.pixels[0])
    for i in range(1, 6):
        expected = mix_view(Image.fromarray(plain.pixels[i]), mixed.views[i].mix)
        np.testing.assert_array_equal(mixed.pixels[i], expected)
        assert (mixed.pixels[i] != plain.pixels[i]).any()
    again = prepare(photo, spec, n_views=3, seed=0, augment="augmix")
    np.testing.assert_array_equal(again.pixels, mixed.pixels[:3])


def test_a_teacher_of_another_size_sees_the_same_mix():
    photo, small, large = draw_photo(300, 260), ImageSpec(size=64), ImageSpec(size=96)
    sample = prepare(photo, small, n_views=4, seed=0, augment="augmix")
    theirs = prepare(photo, large, n_views=4, seed=0, augment="augmix")
    np.testing.assert_array_equal(sample.pixels_for([3, 1], large), theirs.pixels[[3, 1]])


def test_the_classifier_draws_them_on_request():
    photo = draw_photo(80, 70)
    plain = Classifier("toy", labels=["red", "green"], n_views=8)
    mixed = Classifier("toy", labels=["red", "green"], n_views=8, augment="augmix")
    entropies = [[view.entropy for view in clf(photo).trace.views] for clf in (plain, mixed)]
    assert entropies[0][0] == entropies[1][0]
    assert entropies[0][1:] != entropies[1][1:]
    assert mixed.with_labels(["blue"]).augment == "augmix"
    with pytest.raises(UnknownNameError, match="no kind of views 'augmx'"):
        Classifier("toy", labels=["red"], augment="augmx")
