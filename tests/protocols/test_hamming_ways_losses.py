"""Every way to compare codes: each step × each kind of loss, and restarts."""

import numpy as np
import pytest
from paillier_talk import tiny_keys
from sessions import Consortium, draw_codes, true_distances
from ways import STEPS, steps_of

from colabel.engines.faults import Fault
from colabel.protocols.hamming import WAYS


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    tiny_keys(monkeypatch)


def cases():
    for way, steps in STEPS.items():
        for step in steps:
            for moment in ("before", "during", "after", "late"):
                for lost in ("site-0", "site-1", "site-2"):
                    yield pytest.param(way, step, moment, lost, id=f"{step}-{moment}-{lost}")


@pytest.mark.parametrize(("way", "step", "moment", "lost"), list(cases()))
def test_a_lost_site_is_as_if_never_there(way, step, moment, lost):
    codes = draw_codes((2, 3, 4), 40)
    talk = Consortium(codes, faults=[Fault(lost, step, moment)])
    group, found = talk.distances(way, 40)
    np.testing.assert_array_equal(found, true_distances(codes, group.names, 40))
    assert set(talk.names) - set(group.names) <= {lost}
    if moment in ("before", "during"):
        asked = next(e["sites"] for e in talk.seen if e.get("step") == step)
        assert (lost in group.names) == (lost not in asked)


@pytest.mark.parametrize("way", list(WAYS))
def test_every_site_restarts_before_every_step(way):
    codes = draw_codes((2, 3, 2), 40)
    steps = steps_of(way, codes, 40)
    faults = [Fault(name, step, "restart") for name in codes for step in steps]
    again = [Fault(name, step, "twice") for name in codes for step in steps]
    for what in (faults, again):
        _, found = Consortium(codes, faults=what).distances(way, 40)
        np.testing.assert_array_equal(found, true_distances(codes, codes, 40))
