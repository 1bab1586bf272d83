"""Figure 5 of FedCT: the bound of Proposition 1, for 10,000 public points.

python -m bench.fedct_theory    (a second)
"""

from bench.tables import table
from colabel.privacy.theory import convergence_bound, loses_majority

POINTS, TIMES = 10_000, (10, 100, 1000)


def main() -> None:
    """A row for each number of sites and speed of learning."""
    rows = []
    for n_sites in (5, 50, 100):
        for c in (1, 2, 10):
            bounds = [convergence_bound(POINTS, n_sites, c, t0) for t0 in TIMES]
            exact = POINTS * loses_majority(n_sites, 1 - c / TIMES[-1])
            rows.append([f"{n_sites}", f"{c}", *(f"{b:.3g}" for b in bounds), f"{exact:.3g}"])
    columns = [
        "sites",
        "c",
        *(f"δ ≤, t₀ = {t0:,}" for t0 in TIMES),
        "expected changes in round 1,000",
    ]
    print(*table(columns, rows), sep="\n")


if __name__ == "__main__":
    main()
