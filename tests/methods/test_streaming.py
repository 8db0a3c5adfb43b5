"""TDA and DOTA against naive oracles, and what a stream promises: order, reset, repeatability."""

import math

import numpy as np
import pytest

from viewvote import Classifier
from viewvote.errors import UsageError
from viewvote.methods import METHODS, ViewLogits
from viewvote.methods.streaming.dota import Dota
from viewvote.methods.streaming.tda import Tda

SCALE = 20.0


def images(n, *, views=1, dim=5, classes=4, seed=0):
    rng = np.random.default_rng(seed)
    text = rng.normal(size=(classes, dim)).astype(np.float32)
    text /= np.linalg.norm(text, axis=1, keepdims=True)
    features = text[rng.integers(0, classes, (n, 1))] + 0.5 * rng.normal(size=(n, views, dim)).astype(np.float32)
    features = (features / np.linalg.norm(features, axis=-1, keepdims=True)).astype(np.float32)
    return [ViewLogits(SCALE * one @ text.T, features=one, text=text) for one in features]


def scores_of(stream, data):
    return np.array([stream.decide(one).scores for one in data])


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


def entropy(p):
    return -sum(float(q) * math.log(q) for q in p if q > 0)


def kept_views(logits, keep):
    k = max(1, int(len(logits) * keep))
    return sorted(range(len(logits)), key=lambda i: entropy(softmax(logits[i])))[:k]


def naive_tda(data, m):
    pos, neg, answers = {}, {}, []
    for logits, features in ((one.logits.astype(float), one.features.astype(float)) for one in data):
        kept = kept_views(logits, m.keep)
        x = np.mean([features[i] for i in kept], axis=0)
        line = np.mean([logits[i] for i in kept], axis=0)
        q = np.mean([softmax(logits[i]) for i in kept], axis=0)
        e, label = entropy(q), int(np.argmax(line))
        for cache, size, wanted in (
            (pos, m.shots, True),
            (neg, m.shots_neg, 0.2 < e / math.log2(len(q)) < 0.5),
        ):
            if wanted:
                items = cache.setdefault(label, [])
                if len(items) < size:
                    items.append((x, e, q))
                elif e < max(i[1] for i in items):
                    del items[max(range(len(items)), key=lambda i: items[i][1])]
                    items.append((x, e, q))
        final = line.copy()
        for c, items in pos.items():
            for k, _, _ in items:
                final[c] += m.alpha * math.exp(-m.beta * (1 - x @ k))
        for items in neg.values():
            for k, _, p in items:
                final -= m.alpha_neg * math.exp(-m.beta_neg * (1 - x @ k)) * ((p > 0.03) & (p < 1.0))
        answers.append(softmax(final))
    return np.array(answers)


def naive_dota(data, m):
    n_classes, dim = data[0].text.shape
    mu, counts = np.full((n_classes, dim), 0.001), np.ones(n_classes)
    sigma = [0.002 * np.eye(dim) for _ in range(n_classes)]
    precision, answers = np.eye(dim) / 0.002, []
    for logits, features in ((one.logits.astype(float), one.features.astype(float)) for one in data):
        kept = kept_views(logits, m.keep)
        xs, ys = [features[i] for i in kept], [softmax(logits[i]) for i in kept]
        bar = np.mean(xs, axis=0)
        scores = np.array([bar @ precision @ mu[c] - 0.5 * mu[c] @ precision @ mu[c] for c in range(n_classes)])
        w = min(m.rho * counts.mean() / len(xs), m.eta)
        answers.append(softmax(np.mean([logits[i] for i in kept], axis=0) + w * scores))
        for c in range(n_classes):
            got = sum(y[c] for y in ys)
            outer = sum(y[c] * np.outer(x - mu[c], x - mu[c]) for x, y in zip(xs, ys, strict=True))
            sigma[c] = (counts[c] * sigma[c] + outer) / (counts[c] + got)
            mu[c] = (sum(y[c] * x for x, y in zip(xs, ys, strict=True)) + counts[c] * mu[c]) / (counts[c] + got)
            counts[c] += got
        precision = np.linalg.inv((1 - m.epsilon) * np.mean(sigma, axis=0) + m.epsilon * np.eye(dim))
    return np.array(answers)


@pytest.mark.parametrize("views", [1, 20])
def test_tda_agrees_with_the_oracle(views):
    method, data = Tda(multi_view=views > 1), images(40, views=views)
    stream = method.start()
    got = scores_of(stream, data)
    np.testing.assert_allclose(got, naive_tda(data, method), atol=2e-5)
    assert stream.negative  # the case exercises the negative cache too
    assert max(len(items) for items in stream.positive.values()) == 3
    assert max(len(items) for items in stream.negative.values()) <= 2


@pytest.mark.parametrize("views", [1, 20])
def test_dota_agrees_with_the_oracle(views):
    method, data = Dota(multi_view=views > 1), images(40, views=views)
    got = scores_of(method.start(), data)
    np.testing.assert_allclose(got, naive_dota(data, method), atol=2e-4)


def test_dota_starts_as_the_plain_model_with_a_small_push():
    (data,) = images(1)
    first = Dota().start().decide(data)
    # all class means are equal at the start, so every class gets the same push and the softmax does not move
    np.testing.assert_allclose(first.scores, softmax(data.logits[0]), atol=1e-5)


@pytest.mark.parametrize("method", [Tda(), Dota()])
def test_a_stream_learns_and_a_new_one_repeats_it(method):
    data = images(25)
    stream = method.start()
    first, again = scores_of(stream, data), scores_of(stream, data)
    assert (first != again).any()  # it has learned
    np.testing.assert_array_equal(scores_of(method.start(), data), first)


@pytest.mark.parametrize("method", [Tda(), Dota()])
def test_one_class_and_missing_features(method):
    only = method.start().decide(images(1, classes=1)[0])
    assert only.confidence == pytest.approx(1)
    with pytest.raises(UsageError, match="features"):
        method.start().decide(ViewLogits(np.zeros((1, 2), np.float32)))


@pytest.mark.parametrize("name", ["tda", "dota"])
def test_a_classifier_streams_in_order_and_can_be_reset(name):
    rng = np.random.default_rng(0)
    photos = [rng.integers(0, 256, (24, 24, 3), dtype=np.uint8) for _ in range(8)]
    clf = Classifier("toy", labels=["red", "green", "blue"], method=name, n_views=4)
    first = [p.scores for p in clf.predict_many(photos)]
    clf.reset()
    np.testing.assert_array_equal(first, [clf(photo).scores for photo in photos])
    assert METHODS.get(name)().templates == "ensemble"
