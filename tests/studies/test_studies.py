"""Every study over runs, against the same numbers computed naively from the logits they were made from."""

import json

import numpy as np
import pytest

from tests.records.record_files import write_records
from tests.studies.study_runs import CLASSES, KEEP, softmax, study_run
from viewvote.context.rule import estimate
from viewvote.errors import UnknownNameError, UsageError
from viewvote.records.record import failed_record
from viewvote.studies import STUDIES, checked_options
from viewvote.studies.base import Options
from viewvote.studies.mixes import draw_folders
from viewvote.studies.text import FORMATS

OFFLINE = [name for name in STUDIES if name != "cost"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return study_run(tmp_path_factory.mktemp("runs") / "a")


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    place = tmp_path_factory.mktemp("seeds")
    return [study_run(place / str(seed), seed=seed) for seed in (0, 1)]


def row_of(name, run, **options):
    return STUDIES.get(name)([run], Options(**options)).rows[0]


def most_confident(logits, keep):
    p = softmax(logits)
    entropy = -(p * np.log(p)).sum(axis=-1)
    return np.argsort(entropy, axis=1, kind="stable")[:, : max(1, int(logits.shape[1] * keep))]


@pytest.mark.parametrize("keep", [0.1, 0.5])
def test_overconfidence_is_of_source_views_and_of_the_most_confident_at_any_keep(made, keep):
    run, logits, targets, _ = made
    p = softmax(logits)
    row = row_of("overconfidence", run, keep=keep, bins=5)
    assert row["source_accuracy"] == pytest.approx((p[:, 0].argmax(-1) == targets).mean())
    views = most_confident(logits, keep)
    kept = np.take_along_axis(p, views[:, :, None], axis=1)
    right, sure = kept.argmax(-1) == targets[:, None], kept.max(-1)
    assert row["kept_accuracy"] == pytest.approx(right.mean())
    assert row["kept_n"] == right.size
    bins = np.minimum((sure * 5).astype(int), 4)
    gaps = [abs(right[bins == b].mean() - sure[bins == b].mean()) if (bins == b).any() else 0 for b in range(5)]
    weights = [(bins == b).mean() for b in range(5)]
    assert row["kept_ece"] == pytest.approx(np.dot(gaps, weights), abs=1e-6)
    assert row["kept_ece_paper"] == pytest.approx(np.mean(gaps), abs=1e-6)


def test_models_trained_on_laion_have_ten_bins_and_others_twenty(tmp_path, made):
    assert row_of("overconfidence", made[0])["bins"] == 20
    laion, *_ = study_run(tmp_path / "l", images=4, templates="photo")
    object.__setattr__(laion.spec, "model", "open_clip:ViT-B-16/laion2b_s34b_b88k")
    assert row_of("overconfidence", laion)["bins"] == 10


def test_the_jury_averages_source_views_over_classes(made):
    run, logits, targets, _ = made
    p = softmax(logits[:, 0])
    expected = [(p[targets == c].argmax(-1) != c).mean() for c in range(CLASSES)]
    marginal = [float(p[targets == c].mean(0).argmax() != c) for c in range(CLASSES)]
    row = row_of("jury", run)
    assert row["expected"] == pytest.approx(np.mean(expected))
    assert row["marginal"] == pytest.approx(np.mean(marginal))
    assert (row["classes"], row["n"]) == (CLASSES, 40)
    assert row["bounded"] == np.mean(np.array(marginal) <= np.array(expected))


def test_the_jury_by_class_has_each_class_with_its_images(made):
    run, logits, targets, _ = made
    p = softmax(logits[:, 0])
    rows = STUDIES.get("jury")([run], Options(by="class")).rows
    assert [row["class"] for row in rows] == [f"class {c}" for c in range(CLASSES)]
    for c, row in enumerate(rows):
        answer = p[targets == c].mean(0).argmax()
        assert row["expected"] == pytest.approx((p[targets == c].argmax(-1) != c).mean())
        assert (row["answer"], row["marginal"], row["n"]) == (f"class {answer}", answer != c, 10)
    with pytest.raises(UnknownNameError, match="class"):
        STUDIES.get("jury")([run], Options(by="entropy"))


def test_gains_and_gaps_have_intervals_of_pairs_over_images(made):
    run, logits, targets, _ = made
    p = softmax(logits)
    source = p[:, 0].argmax(-1) == targets
    right = np.take_along_axis(p, most_confident(logits, 0.3)[:, :, None], axis=1).argmax(-1) == targets[:, None]
    gap = source - right.mean(1)
    row = row_of("error-gap", run, keep=0.3)
    half = 1.96 * gap.std(ddof=1) / 40**0.5
    assert (row["gap_low"], row["gap_high"]) == pytest.approx((gap.mean() - half, gap.mean() + half), abs=1e-4)
    changed = row_of("failure", run, keep=0.3)
    assert (changed["change_low"], changed["change_high"]) == pytest.approx((-row["gap_high"], -row["gap_low"]))
    assert row["improvement_low"] <= row["improvement"] <= row["improvement_high"]


def other_method(folder, method, **spec):
    """The run that a pass of several methods makes beside zero's: the same views under another name."""
    return study_run(folder, method=method, **spec)[0]


@pytest.mark.parametrize("name", [name for name in OFFLINE if name != "invariance"])
def test_a_folder_of_several_methods_counts_each_dataset_once(tmp_path, made, name):
    runs = [other_method(tmp_path / method, method) for method in ("marginal", "mta")]
    finding = STUDIES.get(name)([runs[0], made[0], runs[1]], Options())
    assert {row["method"].split()[0] for row in finding.rows} == {"zero"}
    alone = STUDIES.get(name)([runs[0]], Options())
    assert {row["method"].split()[0] for row in alone.rows} == {"marginal"}
    assert len(alone.rows) == len(finding.rows)


def test_runs_that_did_not_record_p_bar_are_left_out_where_one_did(tmp_path):
    tuned = other_method(tmp_path / "tpt", "tpt", settings={"record_marginal": True})
    plain = other_method(tmp_path / "other", "tpt")
    (row,) = STUDIES.get("invariance")([plain, tuned], Options()).rows
    assert "record_marginal" in row["method"]


def test_a_study_says_which_options_it_takes():
    assert checked_options("overconfidence", {"keep": 0.2, "bins": 10}) == Options(keep=0.2, bins=10)
    with pytest.raises(UsageError, match=r"jury does not take --bins; it takes --by\."):
        checked_options("jury", {"bins": 10})
    with pytest.raises(UsageError, match="it takes none"):
        checked_options("ties", {"by": "class"})


def test_risks_are_those_of_the_whole_distributions(made):
    run, logits, targets, _ = made
    p, label = softmax(logits), np.eye(CLASSES)[targets]
    rows = {(row["over"], row["loss"]): row for row in STUDIES.get("risk")([run], Options()).rows}
    every = rows["all views", "squared"]
    assert every["marginal"] == pytest.approx(((label - p.mean(1)) ** 2).sum(-1).mean(), abs=1e-6)
    assert every["views"] == pytest.approx(((label[:, None] - p) ** 2).sum(-1).mean(), abs=1e-6)
    kept = np.take_along_axis(p, most_confident(logits, KEEP)[:, :, None], axis=1)
    euclidean = rows["kept views", "euclidean"]
    assert euclidean["marginal"] == pytest.approx(np.linalg.norm(label - kept.mean(1), axis=-1).mean(), abs=1e-6)
    assert all(row["holds"] == 1 for row in rows.values())
    absolute = rows["kept views", "absolute"]
    assert absolute["marginal"] == pytest.approx(absolute["views"], abs=1e-6)


def test_invariance_over_seeds_and_in_bins_of_entropy(seeds):
    runs = [run for run, *_ in seeds]
    same = [(p[:, 0].argmax(-1) == p[:, 1].argmax(-1)) for *_, p in seeds]
    (row,) = STUDIES.get("invariance")(runs, Options()).rows
    assert row["same"] == pytest.approx(np.mean(same))
    assert row["std"] == pytest.approx(np.std([one.mean() for one in same], ddof=1))
    assert (row["seeds"], row["n"]) == (2, 40)
    rows = STUDIES.get("invariance")(runs, Options(by="entropy", bins=4)).rows
    expected = []
    for one, (*_, p) in zip(same, seeds, strict=True):
        entropy = -(p[:, 0] * np.log(p[:, 0])).sum(-1)
        expected.append(one[np.argsort(-entropy)].reshape(4, 10).mean(1))
    assert [row["same"] for row in rows] == pytest.approx(np.mean(expected, axis=0))
    assert (np.diff([row["entropy"] for row in rows]) < 0).all()
    with pytest.raises(UnknownNameError, match="entropy"):
        STUDIES.get("invariance")(runs, Options(by="size"))


def test_tie_rules_differ_on_ties_alone(made):
    rows = STUDIES.get("ties")([made[0]], Options()).rows
    assert len(rows) == 7
    assert len({row["ties"] for row in rows}) == 1
    assert rows[0]["ties"] > 0
    for row in rows:
        gain = (row["top1"] - rows[0]["top1"]) * row["n"]
        assert gain == pytest.approx((row["of_ties"] - rows[0]["of_ties"]) * row["ties"])


def test_gap_and_improvement_of_each_dataset_and_their_coefficient(tmp_path):
    runs = [study_run(tmp_path / str(i), seed=i, dataset=f"set{i}")[0] for i in range(4)]
    finding = STUDIES.get("error-gap")(runs, Options())
    gaps, gains = ([row[key] for row in finding.rows] for key in ("gap", "improvement"))
    for row in finding.rows:
        assert row["gap"] == pytest.approx(row["source"] - row["augmented"])
        assert row["improvement"] == pytest.approx(row["zero"] - row["source"])
    order = [np.argsort(np.argsort(values)) for values in (gaps, gains)]
    if len(set(gaps)) == len(set(gains)) == 4:
        assert f"{np.corrcoef(*order)[0, 1]:+.2f}" in finding.notes[1]
    assert "over 4 datasets" in finding.notes[1]


def test_pairs_of_views_agree_and_err_together(made):
    run, logits, targets, _ = made
    labels = logits.argmax(-1)
    rows = STUDIES.get("independence")([run], Options(bins=2)).rows
    total = rows[-1]
    first, second = np.triu_indices(10, k=1)
    assert total["pairs"] == 40 * 45
    assert total["agreement"] == pytest.approx((labels[:, first] == labels[:, second]).mean())
    wrong = labels != targets[:, None]
    both = np.concatenate([wrong[:, first].ravel(), wrong[:, second].ravel()])
    other = np.concatenate([wrong[:, second].ravel(), wrong[:, first].ravel()])
    assert total["correlation"] == pytest.approx(np.corrcoef(both, other)[0, 1])
    assert total["correlation_low"] < total["correlation"] < total["correlation_high"]
    near = (second - first) <= 3  # 7 of 13 or more in common
    assert rows[-2]["pairs"] == 40 * near.sum()


def test_the_failure_row_is_made_of_the_other_studies_numbers(made):
    run = made[0]
    row, other, gap = row_of("failure", run), row_of("overconfidence", run), row_of("error-gap", run)
    assert (row["source"], row["augmented"], row["zero"]) == (other["source_accuracy"], gap["augmented"], gap["zero"])
    assert (row["source_ece"], row["kept_ece"]) == (other["source_ece"], other["kept_ece"])
    assert row["change"] == pytest.approx(-gap["gap"])


@pytest.mark.parametrize("name", OFFLINE)
def test_every_study_prints_n_and_seeds_in_every_format(made, name):
    finding = STUDIES.get(name)([made[0]], Options())
    assert "| 40 | 1 |" in FORMATS["md"](finding)
    assert FORMATS["latex"](finding).count("\\\\\n") == len(finding.rows) + 1
    lines = FORMATS["csv"](finding).splitlines()
    assert len(lines) == len(finding.rows) + 1
    assert {"n", "seeds"} <= set(lines[0].split(","))
    told = json.loads(FORMATS["json"](finding))
    assert told["study"] == name
    assert len(told["rows"]) == len(finding.rows)


@pytest.mark.parametrize("name", ["overconfidence", "failure", "error-gap"])
def test_records_without_all_views_are_refused(tmp_path, name):
    run, *_ = study_run(tmp_path / "a", images=2)
    text = run.records.read_text().replace('"views_used":10', '"views_used":8', 1)
    run.records.write_text(text)
    with pytest.raises(UsageError, match=f"records of {run.path} do not hold the same views"):
        STUDIES.get(name)([run], Options())


def test_records_of_images_that_none_could_be_used_are_refused(tmp_path):
    run, *_ = study_run(tmp_path / "a", images=1)
    write_records(run.records, [failed_record(ValueError("no image"), key="0", target=0)])
    with pytest.raises(UsageError, match="no image that could be used"):
        STUDIES.get("overconfidence")([run], Options())


@pytest.mark.parametrize("name", ["jury", "risk", "independence", "invariance"])
def test_records_without_details_are_refused_with_the_command(tmp_path, name):
    run, *_ = study_run(tmp_path / "a", images=2)
    lines = [json.loads(line) for line in run.records.read_text().splitlines()]
    for line in lines:
        del line["detail"]
    run.records.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(UsageError, match="viewvote eval"):
        STUDIES.get(name)([run], Options())


@pytest.mark.parametrize(
    ("name", "value", "low", "high"),
    [
        ("overconfidence", "kept_accuracy", "kept_low", "kept_high"),
        ("overconfidence", "kept_ece", "kept_ece_low", "kept_ece_high"),
        ("error-gap", "gap", "gap_low", "gap_high"),
        ("error-gap", "improvement", "improvement_low", "improvement_high"),
        ("error-gap", "zero", "zero_low", "zero_high"),
        ("failure", "augmented", "augmented_low", "augmented_high"),
        ("ties", "top1", "low", "high"),
        ("invariance", "same", "low", "high"),
        ("risk", "views", "views_low", "views_high"),
    ],
)
def test_intervals_over_seeds_average_those_of_the_seeds(seeds, name, value, low, high):
    runs = [run for run, *_ in seeds]
    alone = [row_of(name, run) for run in runs]
    together = STUDIES.get(name)(runs, Options()).rows[0]
    for key in (value, low, high):
        assert together[key] == pytest.approx(np.mean([row[key] for row in alone]))
    assert together[low] <= together[value] <= together[high]


def test_names_are_suggested():
    with pytest.raises(UnknownNameError, match="jury"):
        STUDIES.get("jurry")


def test_the_context_is_that_of_each_folder(made):
    run, logits, targets, _ = made
    rows = {row["folder"]: row for row in STUDIES.get("context")([run], Options()).rows}
    assert list(rows) == ["balanced", "zipf", "one", "half", "80%", "two", "10 photos", "20 photos"]
    source = logits[:, 0] - logits[:, 0].mean(axis=1, keepdims=True)
    for mix, gain in ((None, "gain"), ("varied", "mean_gain")):
        found = estimate(source, mix=mix)
        expected = ((source - found.offsets).argmax(1) == targets).mean() - (source.argmax(1) == targets).mean()
        assert rows["balanced"][gain] == pytest.approx(expected)
    assert rows["balanced"]["share"] == pytest.approx(estimate(source).share, abs=1e-4)
    assert (rows["balanced"]["n"], rows["balanced"]["folders"]) == (40, 1)
    assert (rows["10 photos"]["n"], rows["10 photos"]["folders"]) == (100, 10)
    assert rows["one"]["photos"] == 10


def test_folders_of_every_mix_have_the_labels_they_are_named_for():
    labels = np.repeat(np.arange(5), 12)
    drawn = {}
    for mix, chosen in draw_folders(labels, np.random.default_rng(0), each=3):
        assert len(set(chosen.tolist())) == len(chosen)
        drawn.setdefault(mix, []).append(np.sort(np.bincount(labels[chosen], minlength=5))[::-1].tolist())
    assert {mix: len(found) for mix, found in drawn.items()} == {
        "balanced": 1,
        "zipf": 3,
        "one": 3,
        "half": 3,
        "80%": 3,
        "two": 3,
    }
    assert drawn["balanced"] == [[12] * 5]
    assert all(found == [12, 0, 0, 0, 0] for found in drawn["one"])
    assert all(found[:3] == [12, 12, 0] for found in drawn["two"])
    assert all((found[0], sum(found)) == (12, 24) for found in drawn["half"])
    assert all((found[0], sum(found)) == (12, 15) for found in drawn["80%"])
    assert all(sum(found) == 30 for found in drawn["zipf"])
    assert np.mean([found[0] for found in drawn["zipf"]]) > 8


def test_one_label_makes_folders_of_one_label_only():
    drawn = [mix for mix, _ in draw_folders(np.zeros(9, dtype=np.int64), np.random.default_rng(0), each=2)]
    assert drawn == ["balanced", "zipf", "zipf", "one"]
