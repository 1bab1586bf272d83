"""Fed-ISIC2019 as FLamby prepares it: the natural sites are the six centres.

`train_test_split` is FLamby's table (image, eight diagnoses, target, center, fold, fold2), and
`ISIC_2019_Training_Input_preprocessed/` its images, whose shorter side is 224 pixels. They are
shown as their middle square.
"""

import csv
from collections import Counter

import numpy as np

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.official.pictures import pictures, there
from colabel.data.benchmarks.official.reading import Reading, broken

TABLES = ("train_test_split", "train_test_split.csv", "train_test_folds.csv")
IMAGES = "ISIC_2019_Training_Input_preprocessed"
_CLASSES = ("MEL", "NV", "BCC", "AK", "BKL", "DF", "VASC", "SCC")
_DIGITS = tuple("01234567")
_PARTS = ("training", "test")
# FLamby's numbers: (training images, test images)
_CENTRES = {
    "BCN": (9_930, 2_483),
    "HAM_vidir_molemax": (3_163, 791),
    "HAM_vidir_modern": (2_691, 672),
    "HAM_rosendahl": (1_807, 452),
    "MSK": (655, 164),
    "HAM_vienna_dias": (351, 88),
}


def fed_isic2019(reading: Reading) -> Benchmark:
    """23,247 photographs of skin lesions from 6 centres, 8 skewed classes; 3.5 GB at 224 × 224."""
    rows = _rows(reading)
    paths = [reading.folder / IMAGES / f"{image}.jpg" for image, _, _, _ in rows]
    kept = there(reading, paths)
    is_test = np.array([fold == "test" for _, _, _, fold in rows])[kept]
    centres = np.array([tuple(_CENTRES)[centre] for _, _, centre, _ in rows])[kept]
    reading.count(
        {
            f"{p} images of {c}": n
            for c, ns in _CENTRES.items()
            for p, n in zip(_PARTS, ns, strict=True)
        },
        Counter(
            f"{_PARTS[t]} images of {c}" for t, c in zip(is_test.astype(int), centres, strict=True)
        ),
    )
    return Benchmark(
        "fed_isic2019",
        pictures([paths[k] for k in kept], reading.side, crop=True),
        np.array([target for _, target, _, _ in rows], np.int64)[kept],
        _CLASSES,
        licence="CC BY-NC 4.0",
        source="ISIC 2019, centres and split of FLamby (Ogier du Terrail et al. 2022)",
        metric="balanced_accuracy",
        natural_sites=centres,
        is_test=is_test,
    )


def _rows(reading: Reading) -> list[tuple[str, int, int, str]]:
    name = next((name for name in TABLES if reading.find(name)), TABLES[0])
    path = reading.path(name)
    found = []
    with path.open(encoding="ascii", errors="replace", newline="") as lines:
        table = csv.DictReader(lines)
        missing = {"image", "target", "center", "fold"} - set(table.fieldnames or ())
        if missing:
            raise broken(path, f"it has no column {', '.join(sorted(missing))}")
        for number, row in enumerate(table):
            target, centre, fold = row["target"], row["center"], row["fold"]
            known = target in _DIGITS[:8] and centre in _DIGITS[:6] and fold in ("train", "test")
            if not known or not row["image"].replace("_", "").isalnum():
                why = f"target {target}, center {centre}, fold {fold} of image {row['image']}"
                raise broken(path, why, number)
            found.append((row["image"], int(target), int(centre), fold))
    if not found:
        raise broken(path, "it has no rows")
    return found
