"""Paillier: what each party sees is uniform, and looks freshly encrypted."""

import numpy as np
import pytest
from paillier_talk import KEY_BITS, a_pair, what_j_decrypts

from colabel.crypto import paillier as crypto
from colabel.crypto.big_integers import below
from colabel.protocols.channels import unseal, unseal_for_all
from colabel.protocols.hamming import paillier


def uniform(numbers, modulus, bins=16):
    """Whether numbers look uniform below a modulus, by χ² over equal bins (15 degrees)."""
    counts = np.bincount([number * bins // modulus for number in numbers], minlength=bins)
    expected = len(numbers) / bins
    return float(((counts - expected) ** 2 / expected).sum()) < 60  # p < 3e-7


def without_masks(bound, count, purpose):
    return [0] * count


def small_masks(bound, count, purpose):
    """What the paper's r in [0, L − 1] would be in packed plaintexts."""
    return [mask % (bound >> 4) for mask in below(bound, count, purpose)]


def masks_are_uniform():
    a, b, codes = a_pair()
    sums = b.handle(paillier.PaillierAdd(8, {"a": codes.codes}))
    seen, public = what_j_decrypts(a, sums)
    masks = paillier.from_bytes(sums.masks["a"], public.plain_size)
    return uniform(seen, public.modulus) and uniform(masks, public.modulus)


def test_what_j_decrypts_and_what_k_sends_is_uniform():
    assert masks_are_uniform()


@pytest.mark.parametrize("broken", [without_masks, small_masks])
def test_missing_or_short_masks_are_noticed(monkeypatch, broken):
    monkeypatch.setattr(paillier, "below", broken)
    assert not masks_are_uniform()


def j_can_tell_points_apart(reply, a, b):
    """Whether j, who knows all r, finds b's first code among two candidates.

    An unblinded sum is the product of exactly those ciphertexts whose bits are set, times the
    mask's plain factor, whose value j gets from the decryption.
    """
    codes = unseal_for_all(b, "a", "paillier codes", reply.codes, paillier.EncryptedCodes)
    public = crypto.PublicKey.of_peer(codes.modulus, weakest_bits=KEY_BITS)
    own = public.unpack(codes.ciphertexts)
    sums = b.handle(paillier.PaillierAdd(8, {"a": reply.codes}))
    sealed = unseal(a, "b", "paillier sums", sums.sums["a"], paillier.EncryptedSums)
    first = public.unpack(sealed.ciphertexts)[0]
    residue = first % public.modulus  # (1 + m·N) vanishes modulo N, the randomness stays
    found = []
    for candidate in (b.bits[0], 1 - b.bits[0]):
        product = 1
        for ciphertext, bit in zip(own, candidate, strict=True):
            product = product * ciphertext % public.modulus if bit else product
        found.append(product % public.modulus == residue)
    return found == [True, False]


def test_sums_are_blinded():
    a, b, reply = a_pair(n_right=2)
    assert not j_can_tell_points_apart(reply, a, b)


def test_unblinded_sums_are_noticed(monkeypatch):
    def bare(public, ciphertexts, values):
        hidden = public.hide(values, [1] * len(values))
        return [public.add(c, h) for c, h in zip(ciphertexts, hidden, strict=True)]

    monkeypatch.setattr(crypto.PublicKey, "add_plain", bare)
    a, b, reply = a_pair(n_right=2)
    assert j_can_tell_points_apart(reply, a, b)


def test_equal_bits_have_different_ciphertexts():
    _, b, reply = a_pair()
    codes = unseal_for_all(b, "a", "paillier codes", reply.codes, paillier.EncryptedCodes)
    size = 2 * KEY_BITS // 8
    pieces = {codes.ciphertexts[i : i + size] for i in range(0, len(codes.ciphertexts), size)}
    assert len(pieces) == 8


def test_the_server_reads_no_codes_and_no_sums():
    """What it relays is sealed, and does not hold what is sealed in it."""
    a, b, reply = a_pair(n_right=2)
    inside = unseal_for_all(b, "a", "paillier codes", reply.codes, paillier.EncryptedCodes)
    assert inside.ciphertexts not in reply.codes
    sums = b.handle(paillier.PaillierAdd(8, {"a": reply.codes}))
    inside = unseal(a, "b", "paillier sums", sums.sums["a"], paillier.EncryptedSums)
    assert inside.ciphertexts not in sums.sums["a"]


def test_no_secret_is_shown():
    a, _, _ = a_pair(n_right=1)
    key = a.recall(paillier.PaillierKey)
    assert repr(key) == "PaillierKey(secret)"
    assert repr(key.private()) == f"PrivateKey({KEY_BITS} bits)"


def test_only_a_uniform_mask_makes_the_totals_uniform():
    """The same as above, through the totals that travel to the server."""
    a, b, codes = a_pair()
    sums = b.handle(paillier.PaillierAdd(8, {"a": codes.codes}))
    totals = a.handle(paillier.PaillierDecrypt(8, False, {"b": sums.sums["a"]})).totals["b"]
    public = a.recall(paillier.PaillierKey).private().public
    assert uniform(paillier.from_bytes(totals, public.plain_size), public.modulus)
