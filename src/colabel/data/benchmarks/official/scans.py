"""Folders of scans, one folder per class: chest X-rays and brain MRI, as Kaggle gives them out.

Images come in all sizes and are shown in grey, stretched to a square, as FedCT does it. The sets
say nothing about hospitals: there are no natural sites.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.official.pictures import images_in, pictures
from colabel.data.benchmarks.official.reading import Reading, broken

_CHEST = {
    "train/NORMAL": 1_341, "train/PNEUMONIA": 3_875,
    "val/NORMAL": 8, "val/PNEUMONIA": 8,
    "test/NORMAL": 234, "test/PNEUMONIA": 390,
}  # fmt: skip
_YES_NO = {"no": 98, "yes": 155}
_FOUR = {
    "Training/glioma": 1_321, "Training/meningioma": 1_339,
    "Training/notumor": 1_595, "Training/pituitary": 1_457,
    "Testing/glioma": 300, "Testing/meningioma": 306,
    "Testing/notumor": 405, "Testing/pituitary": 300,
}  # fmt: skip
# the smaller and older set in the same folders, with longer names
_FOUR_OLD = {
    "Training/glioma_tumor": 826, "Training/meningioma_tumor": 822,
    "Training/no_tumor": 395, "Training/pituitary_tumor": 827,
    "Testing/glioma_tumor": 100, "Testing/meningioma_tumor": 115,
    "Testing/no_tumor": 105, "Testing/pituitary_tumor": 74,
}  # fmt: skip
_CAUSE = re.compile(r"_(bacteria|virus)_", re.IGNORECASE)


def chest_xray(reading: Reading) -> Benchmark:
    """5,216 + 16 + 624 chest X-rays of children: pneumonia or not; 294 MB at 224 × 224."""
    folders, paths = _listed(reading, _CHEST)
    parts = np.array([folder.split("/")[0] for folder in folders])
    labels = np.array([folder.endswith("PNEUMONIA") for folder in folders], np.int64)
    causes = [(_CAUSE.search(path.name) or ["", "none"])[1].lower() for path in paths]
    return Benchmark(
        "chest_xray",
        pictures(paths, reading.side, colour=False),
        labels,
        ("normal", "pneumonia"),
        licence="CC BY 4.0",
        source="Chest X-ray images (Kermany et al. 2018), Kaggle's folders",
        metric="balanced_accuracy",
        is_test=parts == "test",
        groups={"part": parts, "cause": np.array(causes)},
    )


def brain_mri(reading: Reading) -> Benchmark:
    """253 MRI scans of the brain, with a tumour or without; 6 MB at 150 × 150; no test part."""
    folders, paths = _listed(reading, _YES_NO)
    return Benchmark(
        "brain_mri",
        pictures(paths, reading.side, colour=False),
        np.array([folder == "yes" for folder in folders], np.int64),
        ("no", "yes"),
        licence="as stated on its Kaggle page",
        source="Brain MRI images for brain tumor detection (Chakrabarty 2018, Kaggle)",
        metric="balanced_accuracy",
    )


def brain_mri_four(reading: Reading) -> Benchmark:
    """5,712 + 1,311 MRI scans of the brain, three tumours or none; 158 MB at 150 × 150.

    Or the older set of 2,870 + 394 scans, if the folders have its names.
    """
    old = (reading.folder / "Training" / "no_tumor").is_dir()
    folders, paths = _listed(reading, _FOUR_OLD if old else _FOUR)
    classes = ("glioma", "meningioma", "none", "pituitary")
    words = [folder.split("/")[1].split("_")[0] for folder in folders]
    labels = [classes.index("none" if word in ("no", "notumor") else word) for word in words]
    return Benchmark(
        "brain_mri_four",
        pictures(paths, reading.side, colour=False),
        np.array(labels, np.int64),
        classes,
        licence="as stated on its Kaggle page",
        source=f"Brain tumour MRI, four classes (Kaggle, {'older' if old else 'newer'} set)",
        metric="balanced_accuracy",
        is_test=np.array([folder.startswith("Testing") for folder in folders]),
    )


def _listed(reading: Reading, expected: Mapping[str, int]) -> tuple[list[str], list[Path]]:
    """The folder's name and the path of every image."""
    folders = [name for name in expected if (reading.folder / name).is_dir()]
    if not reading.allow_partial:
        folders = list(expected)
    images = {name: images_in(reading.folder / name) for name in folders}
    reading.count(
        {f"images in {name}": n for name, n in expected.items()},
        {f"images in {name}": len(paths) for name, paths in images.items()},
    )
    if not any(images.values()):
        raise broken(reading.folder, f"there are no images in {', '.join(expected)}")
    return (
        [name for name, paths in images.items() for _ in paths],
        [path for paths in images.values() for path in paths],
    )
