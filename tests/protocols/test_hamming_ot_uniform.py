"""Oblivious transfer: what travels is uniform, and nothing serves twice."""

import numpy as np
import pytest
from ot_talk import run
from peers import draw
from scipy.stats import chisquare

from colabel.crypto import ot_extension
from colabel.protocols import channels
from colabel.protocols.hamming import ot_values
from colabel.protocols.hamming.ot import OtParcels, OtSums


def uniform(values, width):
    """Whether the top 4 bits and the low 4 bits of values of `width` bits are."""
    values = np.asarray(values).reshape(-1)
    parts = (values >> (width - 4), values & 15)
    return all(chisquare(np.bincount(part, minlength=16)).pvalue > 1e-9 for part in parts)


def transcript(codes, monkeypatch):
    """R, T, what left sends and what right sends: all that is not a key of the base transfers."""
    said, n_bits = {"columns": [], "values": []}, next(iter(codes.values())).shape[1]
    seal = channels.seal_bytes

    def listen(site, to, purpose, content):
        for kind, held in said.items():
            if purpose.startswith(f"ot {kind}"):
                held.append(np.frombuffer(content, np.uint8))
        return seal(site, to, purpose, content)

    sums = []

    def keep(name, number, reply):
        if isinstance(reply, OtSums):
            sums.extend([*reply.lefts.values(), *reply.rights.values()])
        return reply

    monkeypatch.setattr(channels, "seal_bytes", listen)
    run(codes, chunk_bytes=30_000, meddle=keep)
    return {
        "columns": (np.concatenate(said["columns"]), 8),
        "values": (np.concatenate(said["values"]), 8),
        "R": (sums[0], n_bits.bit_length()),
        "T": (sums[1], n_bits.bit_length()),
    }


def points(kind, n, n_bits):
    if kind == "random":
        return draw((n,), n_bits)["site-0"]
    return np.full((n, n_bits), int(kind == "ones"))


N_BITS = 63  # 64 values of 6 bits: 16 of them fill 6 words, with no padding to be seen


@pytest.mark.parametrize("right", ["zeros", "ones", "random"])
@pytest.mark.parametrize("left", ["zeros", "ones", "random"])
def test_messages_are_uniform_whatever_the_codes(left, right, monkeypatch):
    codes = {"site-0": points(left, 48, N_BITS), "site-1": points(right, 64, N_BITS)}
    for what, (values, width) in transcript(codes, monkeypatch).items():
        assert uniform(values, width), what


def broken(monkeypatch, how):
    """The parts of a transcript that a broken variant shows."""
    true = ot_extension.Hash.pads
    if how == "no pads":
        monkeypatch.setattr(ot_extension.Hash, "pads", lambda *a: np.zeros_like(true(*a)))
    if how == "same r again":
        monkeypatch.setattr(
            ot_extension.Hash,
            "pads",
            lambda self, rows, first, n: np.repeat(
                true(self, np.zeros((1, 2), np.uint64), 0, n), len(rows), axis=0
            ),
        )
    if how == "no streams":
        monkeypatch.setattr(ot_extension, "stream", lambda seed, purpose, n: bytes(n))
    codes = {"site-0": points("ones", 48, N_BITS), "site-1": points("ones", 64, N_BITS)}
    parts = transcript(codes, monkeypatch)
    return {what for what, (values, width) in parts.items() if not uniform(values, width)}


def test_without_pads_the_messages_show(monkeypatch):
    assert broken(monkeypatch, "no pads") == {"values", "R", "T"}


def test_with_the_same_r_again_they_show(monkeypatch):
    assert {"values", "R", "T"} <= broken(monkeypatch, "same r again")


def test_without_streams_the_columns_show(monkeypatch):
    assert "columns" in broken(monkeypatch, "no streams")


def test_no_transfer_has_the_number_of_another(monkeypatch):
    used, true = {}, ot_extension.Hash.__init__

    def watched(self, key):
        self.key = key
        true(self, key)

    pads = ot_extension.Hash.pads

    def count(self, rows, first, n_bytes):
        for row in rows.tolist():
            used.setdefault((self.key, first, tuple(row)), 0)
            first += 1
        return pads(self, rows, first - len(rows), n_bytes)

    monkeypatch.setattr(ot_extension.Hash, "__init__", watched)
    monkeypatch.setattr(ot_extension.Hash, "pads", count)
    monkeypatch.setattr(ot_values, "_BLOCK_VALUES", 100)
    run(draw((4, 3, 2), 20))
    by_number = {}
    for key, number, row in used:
        by_number.setdefault((key, number), set()).add(row)
    # q and q ⊕ s, and t is one of them: a third row would be a number used twice
    assert {len(rows) for rows in by_number.values()} == {2}
    assert len({key for key, _ in by_number}) == 3


def test_two_runs_share_nothing():
    seen = []

    def keep(name, number, reply):
        seen.append(reply)
        return reply

    for _ in range(2):
        run(draw((2, 2), 20), meddle=keep)
    parcels = [p for reply in seen if isinstance(reply, OtParcels) for p in reply.parcels.values()]
    assert len(set(parcels)) == len(parcels)
