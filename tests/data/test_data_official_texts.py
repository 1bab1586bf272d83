"""FEMNIST, film reviews and tweets from their official files."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colabel.data import load
from colabel.errors import InputError
from official_files import leaf, put

RNG = np.random.default_rng(0)


def refused(name: str, folder: Path, *, whole: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        load(name, folder, allow_partial=not whole)
    return str(caught.value)


def written(n: int) -> np.ndarray:
    return RNG.integers(0, 256, (n, 28, 28))


def test_femnist_split_by_leaf(tmp_path: Path) -> None:
    here, images = tmp_path / "femnist", written(4)
    train = here / "train/all_data_{}_niid_0_keep_0_train_9.json"
    put(Path(str(train).format(10)), leaf({"f0001_41": (images[:1], [61])}))
    put(Path(str(train).format(2)), leaf({"f0000_14": (images[1:3], [0, 10])}))
    put(here / "test/all_data_2_niid_0_keep_0_test_9.json", leaf({"f0000_14": (images[3:], [36])}))
    found = load("femnist", tmp_path, allow_partial=True)
    np.testing.assert_array_equal(found.points, images[[1, 2, 0, 3]])  # file 2 before file 10
    assert found.points.dtype == np.uint8
    assert [found.classes[c] for c in found.labels] == ["0", "A", "z", "a"]
    assert found.natural_sites is not None
    assert found.natural_sites.tolist() == ["f0000_14", "f0000_14", "f0001_41", "f0000_14"]
    assert found.test_rows.tolist() == [3]
    said = refused("femnist", tmp_path, whole=True)
    assert "expected 817,851 images, found 4" in said
    assert "expected 3,597 writers, found 2" in said


def test_femnist_unsplit(tmp_path: Path) -> None:
    images = written(2)
    path = tmp_path / "leaf/data/femnist/data/all_data/all_data_0.json"
    put(path, leaf({"a": (images[:1], [1]), "b": (images[1:], [2])}))
    found = load("femnist", tmp_path, allow_partial=True)
    np.testing.assert_array_equal(found.points, images)
    assert found.is_test is None
    path.unlink()
    assert "there are no JSON files" in refused("femnist", tmp_path)


def test_femnist_broken(tmp_path: Path) -> None:
    path = tmp_path / "femnist/all_data/all_data_0.json"
    whole = leaf({"a": (written(1), [1])})
    for text, said in (
        (whole[:-5], "all_data_0.json is not in its official format"),
        (whole.replace('"num_samples": [1]', '"num_samples": [2]'), "a has 1 images, 1 labels"),
        (whole.replace('"y": [1]', '"y": [62]'), "all_data_0.json has the label 62"),
        (whole.replace('"y": [1]', '"y": ["1"]'), "Expected `int`"),
        (whole.replace('"users": ["a"]', '"users": ["b"]'), "KeyError"),
        (whole.replace('"x": [[', '"x": [[1.5, '), "cannot reshape"),
        (leaf({"a": (written(1) + 300, [1])}), "not between 0 and 1"),
        ("{}", "missing required field `users`"),
    ):
        put(path, text)
        assert said in (message := refused("femnist", tmp_path))
        assert "all_data_0.json" in message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.dictionaries(
        st.text(min_size=1), st.lists(st.integers(0, 61), min_size=1, max_size=3), min_size=1
    )
)
def test_femnist_round_trip(tmp_path: Path, labels: dict[str, list[int]]) -> None:
    writers = {name: (written(len(y)), y) for name, y in labels.items()}
    put(tmp_path / "femnist/all_data/all_data_0.json", leaf(writers))
    found = load("femnist", tmp_path, allow_partial=True)
    np.testing.assert_array_equal(found.points, np.concatenate([x for x, _ in writers.values()]))
    assert found.labels.tolist() == [c for y in labels.values() for c in y]


def put_reviews(folder: Path) -> Path:
    here = folder / "aclImdb"
    for place, text in (
        ("train/neg/10_2.txt", "dull"),
        ("train/neg/9_1.txt", "schön <br /> dull"),
        ("train/pos/0_9.txt", "good"),
        ("test/pos/0_10.txt", "grand"),
        ("train/unsup/0_0.txt", "film"),
    ):
        put(here / place, text)
    return here


def test_acl_imdb(tmp_path: Path) -> None:
    here = put_reviews(tmp_path)
    found = load("acl_imdb", tmp_path, allow_partial=True)
    assert found.points[:].tolist() == ["schön <br /> dull", "dull", "good", "grand"]
    assert found.labels.tolist() == [0, 0, 1, 1]
    assert found.groups["stars"].tolist() == [1, 2, 9, 10]
    assert found.test_rows.tolist() == [3]
    more = load("acl_imdb_unsup", tmp_path, allow_partial=True)
    assert more.labels.tolist() == [0, 0, 1, 1, -1]
    assert more.train_rows.tolist() == [0, 1, 2, 4]
    said = refused("acl_imdb", tmp_path, whole=True)
    assert "expected 12,500 reviews in train/pos, found 1" in said
    assert "4 problems" in said
    put(here / "test/neg/hello.txt", "")
    assert "hello.txt" in (said := refused("acl_imdb", tmp_path))
    assert "its name is not number_stars.txt" in said


def put_tweets(folder: Path) -> Path:
    put(
        folder / "twitter/twitter_training.csv",
        '2401,Borderlands,Positive,"im ""here"", and\nthere"\r\n'
        "2401,Borderlands,Positive,\r\n"
        "9200,Nvidia,Irrelevant,a\u2028b\r\n",
    )
    return put(folder / "twitter/twitter_validation.csv", "2401,Borderlands,Negative,no\r\n")


def test_twitter(tmp_path: Path) -> None:
    path = put_tweets(tmp_path)
    found = load("twitter", tmp_path, allow_partial=True)
    assert found.points[:].tolist() == ['im "here", and\nthere', "", "a\u2028b", "no"]
    assert [found.classes[c] for c in found.labels] == [
        "Positive", "Positive", "Irrelevant", "Negative",
    ]  # fmt: skip
    assert found.natural_sites is not None
    assert found.natural_sites.tolist() == ["Borderlands", "Borderlands", "Nvidia", "Borderlands"]
    assert found.groups["tweet"].tolist() == ["2401", "2401", "9200", "2401"]
    assert found.test_rows.tolist() == [3]
    said = refused("twitter", tmp_path, whole=True)
    assert "expected 74,682 rows in twitter_training.csv, found 3" in said
    put(path, "2401,Borderlands,Happy,no\n")
    assert "twitter_validation.csv has the label 'Happy'" in refused("twitter", tmp_path)
    put(path, "1,a,Neutral,b\n2401,Borderlands,no\n")
    assert "row 1" in (said := refused("twitter", tmp_path))
    assert "3 columns, not 4" in said


def test_sentiment140(tmp_path: Path) -> None:
    row = '"{}","146","Mon Apr 06 22:19:45 PDT 2009","NO_QUERY","{}","{}"\n'
    put(
        tmp_path / "sentiment140/training.1600000.processed.noemoticon.csv",
        (row.format(0, "ana", "caf\u00e9, closed") + row.format(4, "bo", "open")).encode("latin-1"),
    )
    test = tmp_path / "sentiment140/testdata.manual.2009.06.14.csv"
    put(test, row.format(2, "cy", "so so") + row.format(4, "ana", "fine"))
    found = load("sentiment140", tmp_path, allow_partial=True)
    assert found.points[:].tolist() == ["caf\u00e9, closed", "open", "fine"]
    assert found.labels.tolist() == [0, 1, 1]
    assert found.natural_sites is not None
    assert found.natural_sites.tolist() == ["ana", "bo", "ana"]
    assert found.test_rows.tolist() == [2]
    said = refused("sentiment140", tmp_path, whole=True)
    assert "expected 1,600,000 rows" in said
    assert "expected 498 rows in testdata.manual.2009.06.14.csv, found 2" in said
    test.unlink()
    assert "has no testdata" in refused("sentiment140", tmp_path, whole=True)
    assert len(load("sentiment140", tmp_path, allow_partial=True)) == 2
