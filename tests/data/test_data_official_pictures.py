"""Folders of image files: Mini-ImageNet, Fed-ISIC2019, chest X-rays, brain MRI."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from colabel.data import LabelMask, LazyPoints, Natural, apply_split, fingerprint, load, make_split
from colabel.data.benchmarks.official import fed_isic2019, mini_imagenet, pictures, scans
from colabel.errors import InputError
from official_files import png, put

CENTRES = list(fed_isic2019._CENTRES)
HEAD = "image,MEL,NV,BCC,AK,BKL,DF,VASC,SCC,UNK,target,center,fold,fold2\n"


def plain(*colour: int, width: int = 40, height: int = 30) -> np.ndarray:
    return np.full((height, width, len(colour)), colour, np.uint8).squeeze()


def jpeg(image: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "JPEG", quality=95)
    return stream.getvalue()


def refused(name: str, folder: Path, *, whole: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        load(name, folder, allow_partial=not whole)
    return str(caught.value)


def put_mini(folder: Path) -> Path:
    here = folder / "mini_imagenet"
    put(here / "train.csv", "filename,label\na1.jpg,n02\na2.jpg,n02\nb1.jpg,n01\n")
    put(here / "test.csv", "filename,label\r\nc1.jpg,n03\r\n")
    for file, colour in (("a1", 10), ("a2", 60), ("b1", 120), ("c1", 240)):
        put(here / f"images/{file}.jpg", jpeg(plain(colour, 100, 200)))
    return here


def test_mini_imagenet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mini_imagenet, "_N_TEST", 1)
    put_mini(tmp_path)
    found = load("mini_imagenet", tmp_path, allow_partial=True)
    assert found.points.shape == (4, 84, 84, 3)
    assert found.classes == ("n01", "n02", "n03")
    assert found.labels.tolist() == [1, 1, 0, 2]
    assert found.groups["few_shot_part"].tolist() == ["train", "train", "train", "test"]
    assert found.test_rows.tolist() == [1, 2, 3]  # the last of each class
    shown = found.points[[3, 0]].astype(int)
    assert np.abs(shown[0] - [240, 100, 200]).max() <= 3
    assert np.abs(shown[1] - [10, 100, 200]).max() <= 3


def test_mini_imagenet_broken(tmp_path: Path) -> None:
    here = put_mini(tmp_path)
    said = refused("mini_imagenet", tmp_path, whole=True)
    assert "has no val.csv" in said
    put(here / "val.csv", "filename,label\nd1.jpg,n04\n")
    said = refused("mini_imagenet", tmp_path, whole=True)
    assert "1 of 5 listed images are missing, as" in said
    assert "d1.jpg" in said
    assert len(load("mini_imagenet", tmp_path, allow_partial=True)) == 4
    put(here / "images/d1.jpg", jpeg(plain(1, 2, 3)))
    said = refused("mini_imagenet", tmp_path, whole=True)
    assert "expected 100 classes, found 4" in said
    assert "expected 600 images of n02, found 2" in said
    for text, problem in (
        ("file,label\n", "its head is 'file,label'"),
        ("", "its head is ''"),
        ("filename,label\n../../secret.jpg,n01\n", "is not a file name and a label"),
        ("filename,label\nd1.jpg\n", "is not a file name and a label"),
    ):
        put(here / "val.csv", text)
        assert problem in refused("mini_imagenet", tmp_path)


def test_mini_imagenet_as_arrays(tmp_path: Path) -> None:
    path = tmp_path / "mini_imagenet/mini_imagenet.npz"
    path.parent.mkdir()
    images = np.arange(2 * 5 * 5 * 3, dtype=np.uint8).reshape(2, 5, 5, 3)
    np.savez(path, x=images, y=np.array(["n02", "n01"]))
    found = load("mini_imagenet", tmp_path, allow_partial=True)
    np.testing.assert_array_equal(found.points, images)
    assert found.labels.tolist() == [1, 0]
    np.savez(path, x=images[..., 0], y=np.array(["n02", "n01"]))
    assert "not uint8 (n, H, W, 3)" in refused("mini_imagenet", tmp_path)
    np.savez(path, x=images, y=np.array([1]))
    assert "1 labels for 2 images" in refused("mini_imagenet", tmp_path)
    np.savez(path, x=images, y=np.array([{}, {}]))  # objects, which would be unpickled
    assert "mini_imagenet.npz is not in its official format" in refused("mini_imagenet", tmp_path)


def put_isic(folder: Path) -> Path:
    here = folder / "fed_isic2019"
    wide = np.concatenate([plain(0, 0, 0), plain(200, 50, 90), plain(0, 0, 0)], axis=1)
    rows = ((65, 1, 0, "train"), (72, 7, 5, "test"), (58, 2, 1, "train"))
    table = HEAD
    for number, target, centre, fold in rows:
        table += f"ISIC_00000{number},{'0.0,' * 9}{target},{centre},{fold},{fold}_{centre}\n"
        put(here / fed_isic2019.IMAGES / f"ISIC_00000{number}.jpg", jpeg(wide))
    put(here / "train_test_split", table)
    return here


def test_fed_isic2019(tmp_path: Path) -> None:
    put_isic(tmp_path)
    found = load("fed_isic2019", tmp_path, allow_partial=True, side=20)
    assert found.points.shape == (3, 20, 20, 3)
    assert found.natural_sites is not None
    assert found.natural_sites.tolist() == ["BCN", "HAM_vienna_dias", "HAM_vidir_molemax"]
    assert found.labels.tolist() == [1, 7, 2]
    assert found.test_rows.tolist() == [1]
    assert found.metric == "balanced_accuracy"
    # the middle square alone, its proportions kept: none of the black sides
    assert np.abs(np.asarray(found.points)[:, :, 2:-2].astype(int) - [200, 50, 90]).max() <= 12
    assert load("fed_isic2019", tmp_path, allow_partial=True).points.shape[1:] == (224, 224, 3)


def test_fed_isic2019_counts_every_centre(tmp_path: Path) -> None:
    here = put_isic(tmp_path)
    said = refused("fed_isic2019", tmp_path, whole=True)
    assert "12 problems" in said
    assert "expected 9,930 training images of BCN, found 1" in said
    assert "expected 88 test images of HAM_vienna_dias, found 1" in said
    assert sum(sum(counts) for counts in fed_isic2019._CENTRES.values()) == 23_247
    (here / fed_isic2019.IMAGES / "ISIC_0000072.jpg").unlink()
    assert "1 of 3 listed images are missing" in refused("fed_isic2019", tmp_path, whole=True)
    assert len(load("fed_isic2019", tmp_path, allow_partial=True)) == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ISIC_1,0,0,0,0,0,0,0,0,0,8,0,train,train_0", "target 8"),
        ("ISIC_1,0,0,0,0,0,0,0,0,0,0,6,train,train_6", "center 6"),
        ("ISIC_1,0,0,0,0,0,0,0,0,0,0,0,val,val_0", "fold val"),
        ("../ISIC_1,0,0,0,0,0,0,0,0,0,0,0,test,test_0", "image ../ISIC_1"),
        ("", "it has no rows"),
    ],
)
def test_fed_isic2019_broken(tmp_path: Path, line: str, said: str) -> None:
    put(tmp_path / "fed_isic2019/train_test_split", f"{HEAD}{line}\n")
    message = refused("fed_isic2019", tmp_path)
    assert said in message
    assert "train_test_split is not in its official format" in message
    put(tmp_path / "fed_isic2019/train_test_split", "image,target\n")
    assert "it has no column center, fold" in refused("fed_isic2019", tmp_path)


def put_chest(folder: Path) -> Path:
    here = folder / "chest_xray"
    for place, level in (
        ("train/NORMAL/IM-0115-0001.jpeg", 20),
        ("train/PNEUMONIA/person1_bacteria_1.jpeg", 40),
        ("val/PNEUMONIA/person9_virus_3.jpeg", 60),
        ("test/NORMAL/NORMAL2-IM-0007-0001.jpeg", 80),
    ):
        put(here / place, jpeg(plain(level)))
    put(here / "train/NORMAL/.DS_Store", b"not an image")
    put(here / "train/NORMAL/._IM-0115-0001.jpeg", b"not an image either")
    return here


def test_chest_xray(tmp_path: Path) -> None:
    put_chest(tmp_path)
    found = load("chest_xray", tmp_path, allow_partial=True, side=16)
    assert found.points.shape == (4, 16, 16)
    assert np.asarray(found.points).mean(axis=(1, 2)).round().tolist() == [20, 40, 60, 80]
    assert found.labels.tolist() == [0, 1, 1, 0]
    assert found.groups["cause"].tolist() == ["none", "bacteria", "virus", "none"]
    assert found.groups["part"].tolist() == ["train", "train", "val", "test"]
    assert found.test_rows.tolist() == [3]
    said = refused("chest_xray", tmp_path, whole=True)
    assert "there is no folder" in said


def test_chest_xray_counts(tmp_path: Path) -> None:
    here = put_chest(tmp_path)
    for folder in scans._CHEST:
        (here / folder).mkdir(parents=True, exist_ok=True)
    said = refused("chest_xray", tmp_path, whole=True)
    assert "expected 3,875 images in train/PNEUMONIA, found 1" in said
    assert sum(scans._CHEST.values()) == 5_856


def test_brain_mri(tmp_path: Path) -> None:
    half = np.concatenate([plain(0, width=30), plain(250, width=30)], axis=1)
    put(tmp_path / "brain_mri/yes/Y1.PNG", png(half))
    put(tmp_path / "brain_mri/no/N 1.jpg", jpeg(plain(7)))
    found = load("brain_mri", tmp_path, allow_partial=True, side=10)
    assert found.labels.tolist() == [0, 1]
    assert found.points[1][:, :4].max() == 0
    assert found.points[1][:, 6:].min() == 250
    said = refused("brain_mri", tmp_path, whole=True)
    assert "expected 155 images in yes, found 1" in said
    assert "expected 98 images in no, found 1" in said


@pytest.mark.parametrize(
    ("folders", "edition", "n"),
    [
        (("glioma", "meningioma", "notumor", "pituitary"), "newer", "1,321"),
        (("glioma_tumor", "meningioma_tumor", "no_tumor", "pituitary_tumor"), "older", "826"),
    ],
)
def test_brain_mri_four(tmp_path: Path, folders: tuple[str, ...], edition: str, n: str) -> None:
    for part in ("Training", "Testing"):
        for level, folder in enumerate(folders):
            put(tmp_path / f"brain_mri_four/{part}/{folder}/1.jpg", jpeg(plain(50 * level)))
    found = load("brain_mri_four", tmp_path, allow_partial=True, side=8)
    assert found.labels.tolist() == [0, 1, 2, 3] * 2
    assert found.classes == ("glioma", "meningioma", "none", "pituitary")
    assert found.test_rows.tolist() == [4, 5, 6, 7]
    assert edition in found.source
    said = refused("brain_mri_four", tmp_path, whole=True)
    assert f"expected {n} images in Training/{folders[0]}, found 1" in said


def test_a_broken_image_is_named_when_it_is_read(tmp_path: Path) -> None:
    put(tmp_path / "brain_mri/yes/Y1.jpg", jpeg(plain(7))[:300])
    put(tmp_path / "brain_mri/yes/Y2.jpg", jpeg(plain(7)))
    found = load("brain_mri", tmp_path, allow_partial=True)
    assert found.points[1].mean() == 7
    with pytest.raises(InputError, match=r"Y1\.jpg cannot be read as an image"):
        found.points[[1, 0]]


def test_only_the_rows_asked_for_are_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_chest(tmp_path)
    found = load("chest_xray", tmp_path, allow_partial=True, side=8)
    seen = []
    decode = pictures._decode
    monkeypatch.setattr(
        pictures, "_decode", lambda path, *how: seen.append(path) or decode(path, *how)
    )
    found.points[np.array([False, True, False, False])]
    assert [path.name for path in seen] == ["person1_bacteria_1.jpeg"]


def test_lazy_points_are_dealt_and_fingerprinted_as_arrays(tmp_path: Path) -> None:
    put_isic(tmp_path)
    found = load("fed_isic2019", tmp_path, allow_partial=True, side=8)
    whole = np.asarray(found.points)
    assert isinstance(found.points, LazyPoints)
    assert found.points.nbytes == whole.nbytes
    assert fingerprint(found.points, found.labels) == fingerprint(whole, found.labels)
    split = make_split(
        found.name, found.points, found.labels, partition=Natural(), mask=LabelMask(n_labels=1),
        n_sites=3, seed=0, groups=found.natural_sites,
    )  # fmt: skip
    for points in (found.points, whole):
        sites = apply_split(split, points, found.labels, found.classes)
        np.testing.assert_array_equal(
            np.concatenate([site.points for site in sites.sites]),
            whole[np.concatenate([np.array(rows) for rows in split.rows])],
        )


def test_what_is_said_without_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_chest(tmp_path)
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert "pip install 'colabel[images]'" in refused("chest_xray", tmp_path)
