"""The figure of the README, from the results of the studies.

python -m bench.figure
"""

import json
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent
PANELS = {
    "fashion_mnist": "Fashion-MNIST, 10 sites\naccuracy",
    "ham10000": "Skin lesions, 4 hospitals\nbalanced accuracy",
    "writers": "Digits, 539 writers\naccuracy",
}
BARS = (
    ("each site alone, default", "each site alone", "#b45309"),
    ("across sites, default", "across sites", "#0f766e"),
)


def panel(axes: plt.Axes, name: str, title: str) -> None:
    results = json.loads((HERE / "results" / f"{name}.json").read_text())["results"]
    places = np.arange(len(results))
    for number, (variant, label, colour) in enumerate(BARS):
        values = [100 * np.array(cell[variant]) for cell in results.values()]
        axes.bar(
            places + 0.38 * (number - 0.5),
            [value.mean() for value in values],
            0.36,
            yerr=[value.std(ddof=1) if len(value) > 1 else 0 for value in values],
            color=colour,
            label=label,
            error_kw={"lw": 1, "ecolor": "#374151"},
        )
    names = [cell.split(" (")[0].replace(", ", ",\n").replace(" per site", "") for cell in results]
    axes.set_xticks(places, [name.replace(" labelled", "\nlabelled") for name in names])
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_ylim(0, 100)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=7.5, length=0)


def main() -> None:
    mpl.use("Agg")
    figure, rows = plt.subplots(1, len(PANELS), figsize=(10.5, 3.2), sharey=True)
    for axes, (name, title) in zip(rows, PANELS.items(), strict=True):
        panel(axes, name, title)
    rows[0].set_ylabel("percent", fontsize=8)
    rows[0].legend(fontsize=8, frameon=False, loc="upper left")
    figure.tight_layout()
    figure.savefig(HERE.parent / "docs" / "images" / "accuracy.png", dpi=110)


if __name__ == "__main__":
    main()
