"""What a run reveals, written down: whoever changes what is revealed must change it here too."""

import pytest

from colabel.federation.plan import LabellingPlan
from colabel.federation.reveals import reveals
from colabel.jobs.label import label
from colabel.protocols.hamming import WAYS
from consortia import make_sites

CLEAR, MASKED, SEALED = "in clear", "masked", "encrypted"
NONE = "in clear, no protection"
SIZES = "number of points, of labelled points and of features"
POINTS = "moments of the points"
TRIED, RATED = "scores of tried points", "ratings of settings"
SCORES = "class scores and class counts"
OWN = ("the distances of its own points", "server", CLEAR)
ACROSS = ("the distances of all pairs of points of different sites", "server", MASKED)

START = [
    (SIZES, "server", CLEAR),
    (f"{SIZES}, and public keys", "sites", CLEAR),
    ("shares of its masks and a proposal for the shared secret", "sites", SEALED),
]
MOMENTS = [
    (f"each site's {POINTS}", "server", MASKED),
    (f"the sum of all sites' {POINTS}", "each site", MASKED),
]
BY_WAY = {
    "lattice": [
        OWN,
        ("its codes", "sites", SEALED),
        ("sums of encrypted codes", "sites", SEALED),
        ("random numbers that mask the distances", "server", CLEAR),
        ACROSS,
    ],
    "ot": [ACROSS, OWN],
    "paillier": [
        ("its public key", "server", CLEAR),
        ("its codes", "sites", SEALED),
        ("sums of encrypted codes, masked", "sites", SEALED),
        ("random numbers that mask the distances", "server", CLEAR),
        ACROSS,
        OWN,
    ],
    "dealer": [OWN, ("its codes, masked by what the server dealt", "sites", SEALED), ACROSS],
    "sketch": [("the angles of all pairs of points, as masked codes", "server", MASKED)],
}
END = [
    ("how far its own labels reach the labelled points of every site", "each site", CLEAR),
    (f"each site's {TRIED}", "server", MASKED),
    (f"the sum of all sites' {TRIED}, own rows only", "each site", MASKED),
    (f"each site's {RATED}", "server", MASKED),
    (f"the sum of all sites' {RATED}", "server", MASKED),
    ("how far its own labels reach the points of every site", "each site", CLEAR),
    (f"each site's {SCORES}", "server", MASKED),
    (f"the sum of all sites' {SCORES}, own rows only", "each site", MASKED),
]
TABLES = {way: [*START, *MOMENTS, *told, *END] for way, told in BY_WAY.items()}
TABLES["clear"] = [
    (SIZES, "server", CLEAR),
    ("the seed of the hyperplanes", "server", NONE),
    (f"each site's {POINTS}", "server", NONE),
    (f"the sum of all sites' {POINTS}", "each site", NONE),
    ("the codes of all points, hence all distances and directions", "server", NONE),
    ("how far its own labels reach the labelled points of every site", "each site", CLEAR),
    (f"each site's {TRIED}", "server", NONE),
    (f"the sum of all sites' {TRIED}, own rows only", "each site", NONE),
    (f"each site's {RATED}", "server", NONE),
    ("how far its own labels reach the points of every site", "each site", CLEAR),
    (f"each site's {SCORES}", "server", NONE),
    (f"the sum of all sites' {SCORES}, own rows only", "each site", NONE),
]


def ledger_of(way, **settings):
    # keys of Paillier's are long, so points and bits are few
    sites = make_sites(2, 3, n_labels=2)
    plan = LabellingPlan(n_classes=3, hamming=way, **({"n_bits": 2} | settings))
    return label(sites, plan).ledger, plan


def seen(entries):
    return [(entry.what, entry.to, entry.mechanism) for entry in entries]


@pytest.mark.parametrize("way", WAYS)
def test_the_ledger_of_every_way(way):
    ledger, plan = ledger_of(way)
    assert seen(ledger) == TABLES[way]
    assert seen(reveals(plan)) == TABLES[way]


@pytest.mark.parametrize("way", ["sketch", "clear"])
@pytest.mark.parametrize(
    "settings",
    [
        {"features": "identity"},
        {"confidence": "entropy"},
        {"confidence": "entropy", "alpha": "auto"},
        {"seed": b"s" * 32},
    ],
)
def test_what_is_foretold_is_what_is_revealed(way, settings):
    ledger, plan = ledger_of(way, **settings)
    assert seen(reveals(plan)) == seen(ledger)


def test_nothing_says_masked_where_nothing_is():
    ledger, _ = ledger_of("clear")
    assert {entry.mechanism for entry in ledger} == {CLEAR, NONE}
    for other in set(WAYS) - {"clear", "paillier"}:
        assert NONE not in {entry.mechanism for entry in ledger_of(other)[0]}
