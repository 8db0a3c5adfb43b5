"""The table opens in other programs by its name alone."""

import shutil
import sys

import pytest

from benchmarks.shelves import LABELS
from tests.bulk.jobs import job, rows_of, shards
from viewvote.bulk import classify_bulk

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    root = tmp_path_factory.mktemp("table")
    (root / "in").mkdir()
    places = [shards(root / "in"), str(root / "in" / "gone.tar")]
    (root / "in" / "gone.tar").write_bytes(b"")
    classify_bulk(job(places, root / "answers.parquet", keep=["id"]))
    return root / "answers.parquet"


def test_pandas(table):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(table)
    assert len(frame) == 16
    assert frame["label"].value_counts().to_dict() == dict.fromkeys(LABELS, 5)
    assert frame["error"].notna().sum() == 1
    assert sorted(frame["id"].dropna(), key=int) == [str(i) for i in range(15)]


def test_polars(table):
    polars = pytest.importorskip("polars")
    for frame in (polars.read_parquet(table), polars.scan_parquet(f"{table}/").collect()):
        assert frame.height == 16
        assert frame["label"].drop_nulls().to_list() == [row["label"] for row in rows_of(table) if row["label"]]
        assert frame["top"][0].to_list()[0]["label"] == "red"


def test_duckdb(table):
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.sql(
        f"select label, count(*), max(probability), any_value(top[1].label) from '{table}/*.parquet' "
        "group by 1 order by 1"
    ).fetchall()
    assert [(row[0], row[1], row[3]) for row in found] == [
        ("blue", 5, "blue"),
        ("green", 5, "green"),
        ("red", 5, "red"),
        (None, 1, None),
    ]


@pytest.mark.filterwarnings("ignore")  # of Spark's own
def test_spark(table, monkeypatch):
    """Needs `pip install pyspark` and a Java that it knows."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "1"}
    builder = sql.SparkSession.builder.master("local[1]").appName("answers")
    spark = builder.config(map=settings).getOrCreate()
    try:
        frame = spark.read.parquet(str(table))
        assert {field.name: field.dataType.simpleString() for field in frame.schema} == {
            "key": "string",
            "label": "string",
            "index": "int",
            "probability": "double",
            "vote_share": "double",
            "votes": "double",
            "kept_views": "double",
            "views_used": "int",
            "tie_break": "string",
            "stop": "string",
            "top": "array<struct<label:string,index:int,probability:double>>",
            "shown": "array<string>",
            "error": "string",
            "id": "string",
        }
        found = {row["key"]: row.asDict(recursive=True) for row in frame.collect()}
        assert found == {row["key"]: row for row in rows_of(table)}
        counts = frame.where("error is null").groupBy("label").count().orderBy("label").collect()
        assert [tuple(row) for row in counts] == [("blue", 5), ("green", 5), ("red", 5)]
    finally:
        spark.stop()


def test_arrow_reads_it_as_one_dataset(table):
    dataset = pytest.importorskip("pyarrow.dataset")
    found = dataset.dataset(table)
    assert found.count_rows() == 16
    assert found.schema.names[:4] == ["key", "label", "index", "probability"]
