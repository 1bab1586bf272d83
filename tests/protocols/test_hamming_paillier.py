"""Distances under Paillier: exact, uniform on the way, and nothing but clean refusals."""

from functools import partial
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sessions import Consortium, draw_codes, true_distances

from colabel.conversation import Ask
from colabel.crypto import paillier as crypto
from colabel.crypto.big_integers import below
from colabel.engines.faults import Fault
from colabel.errors import RemoteProtocolError
from colabel.protocols.channels import Channels, seal, unseal, unseal_for_all
from colabel.protocols.hamming import WAYS, paillier, slots
from colabel.protocols.hamming.paillier import PaillierHamming
from colabel.protocols.keys import Group, Welcome
from colabel.wire import SESSION_LENGTH, open_envelope, pack, seal_in, unpack

KEY_BITS = 1024
HANDLERS = paillier.site_side(weakest_bits=KEY_BITS)
STEPS = ("paillier.codes", "paillier.sums", "paillier.totals")


class Peer:
    """A site whose state is written and read again in every step."""

    session = "0" * SESSION_LENGTH

    def __init__(self, name, bits, names):
        self.name, self.bits, self.saved = name, bits, {}
        pairs = {peer: "".join(sorted((peer, name))).encode() for peer in names if peer != name}
        self.remember(Channels(0, pairs, b"shared by all"))

    def codes(self):
        return np.packbits(self.bits, axis=1)

    def remember(self, state):
        self.saved[type(state).__name__] = pack(state)

    def recall(self, kind):
        if kind.__name__ not in self.saved:
            self.refuse("a step was skipped", kind.__name__, "none")
        return unpack(self.saved[kind.__name__], kind)

    def refuse(self, rule, expected, got):
        raise RemoteProtocolError(rule, site=self.name, step="test", expected=expected, got=got)

    def handle(self, message, handlers=HANDLERS):
        return handlers[type(message)](self, message)


def peers_of(codes):
    return {name: Peer(name, bits, codes) for name, bits in codes.items()}


def group_of(codes):
    sizes = {name: Welcome(len(bits), 0, 0) for name, bits in codes.items()}
    return Group(sizes)


def run(codes, *, lost=(), newcomers=(), meddle=None, handlers=HANDLERS):
    """H by a whole conversation; `lost` holds (site, step, whether its reply is what is lost)."""
    peers, seen = peers_of(codes), SimpleNamespace(up=0, down=0, asked={}, replies={})
    n_bits = next(iter(codes.values())).shape[1]
    talk = PaillierHamming(KEY_BITS).conversation(group_of(codes), n_bits, newcomers)
    replies, gone = None, set()
    while True:
        try:
            ask = talk.send(replies)
        except StopIteration as end:
            return *end.value, seen
        assert isinstance(ask, Ask)
        step = ask.step
        assert ask.releases
        seen.asked[step] = set(ask.messages)
        replies = {}
        for name, message in ask.messages.items():
            here = [late for site, when, late in lost if (site, when) == (name, step)]
            if name in gone or False in here:
                gone.add(name)
                continue
            sent = seal_in(Peer.session, 0, "server", message)
            reply = peers[name].handle(open_envelope(sent, site=name, step=step)[1], handlers)
            if here:
                gone.add(name)
                continue
            if meddle:
                reply = meddle(name, reply)
            back = seal_in(Peer.session, 0, name, reply)
            seen.up, seen.down = seen.up + len(back), seen.down + len(sent)
            replies[name] = open_envelope(back, site="server", step=step)[1]
        seen.replies[step] = replies


def slow(left, right):
    return [[sum(a != b for a, b in zip(x, y, strict=True)) for y in right] for x in left]


def pooled(codes, names):
    return np.concatenate([codes[name] for name in names])


def draw(sizes, n_bits, seed=0):
    rng = np.random.default_rng(seed)
    names = [f"site-{number}" for number in range(len(sizes))]
    return {n: rng.integers(0, 2, (k, n_bits)) for n, k in zip(names, sizes, strict=True)}


def check(codes, **options):
    group, distances, seen = run(codes, **options)
    everything = pooled(codes, group.names)
    np.testing.assert_array_equal(distances.rows(0, len(everything)), slow(everything, everything))
    return group, seen


@pytest.mark.parametrize(
    ("sizes", "n_bits"),
    [((1, 1), 1), ((2, 1), 13), ((1, 3), 8), ((3, 2, 4), 64), ((300, 2), 9), ((5,), 16)],
)
def test_distances_are_exact(sizes, n_bits):
    check(draw(sizes, n_bits))


def test_equal_and_opposite_points():
    """Distances 0 and L are different numbers, in every slot, also when L is a power of two."""
    for n_bits in (1, 4, 16):
        zeros, ones = np.zeros((90, n_bits), int), np.ones((90, n_bits), int)
        check({"a": np.concatenate([zeros, ones, ones]), "b": np.concatenate([ones, zeros])[85:95]})


def test_the_longest_codes(monkeypatch):
    tiny = crypto.from_primes(2**61 - 1, 2**89 - 1, weakest_bits=0)
    monkeypatch.setattr(crypto, "generate", lambda n_bits, weakest_bits: tiny)
    check(draw((2, 1), 65_535), handlers=paillier.site_side(weakest_bits=150))


def test_newcomers():
    codes = draw((3, 2, 2), 24)
    group, distances, _ = run(codes, newcomers=("site-1",))
    others = pooled(codes, ("site-0", "site-2"))
    assert group.names == tuple(codes)
    np.testing.assert_array_equal(distances.rows(0, 2), slow(codes["site-1"], others))


def test_real_keys():
    site = Peer("a", draw((2,), 16)["site-0"], "ab")
    reply = site.handle(paillier.PaillierEncrypt(2048, 16), PaillierHamming.handlers)
    asked = paillier.PaillierAdd(16, {"a": reply.codes})
    other = Peer("b", draw((3,), 16)["site-0"], "ab")
    sums = other.handle(asked, PaillierHamming.handlers)
    assert len(sums.masks["a"]) == 3 * 2048 // 8


@given(st.integers(1, 20), st.integers(1, 12), st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_slots_hold_what_is_put_in(count, width, seed):
    values = np.random.default_rng(seed).integers(0, 2**width, (3, count))
    joined = slots.join(values, width)
    assert joined == [sum(int(v) << i * width for i, v in enumerate(row)) for row in values]
    for row, number in zip(values, joined, strict=True):
        np.testing.assert_array_equal(slots.split(number, count, width), row)


def test_236_points_fit_a_real_key():
    assert slots.slots(3072, 4096) == 236


@pytest.mark.parametrize("sizes", [(2, 3), (200, 1, 2), (4,)])
def test_costs_are_exact(sizes):
    codes = draw(sizes, 20)
    cost = PaillierHamming(KEY_BITS).cost(group_of(codes), 20)
    _, _, seen = run(codes)
    assert (cost.bytes_up, cost.bytes_down, cost.steps) == (seen.up, seen.down, len(seen.asked))
    assert cost.steps == (3 if len(sizes) > 1 else 1)
    assert (cost.seconds > 0) == (len(sizes) > 1)


def test_the_size_of_messages_depends_on_public_sizes_only():
    codes = draw((3, 2, 2), 16)
    blank = {name: np.zeros_like(bits) for name, bits in codes.items()}
    assert [s.up for _, s in (check(codes), check(blank))] == [run(codes)[2].up] * 2


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("site", range(4))
def test_a_lost_site_has_never_taken_part(site, step, late):
    codes = draw((2, 3, 1, 2), 8)
    name = f"site-{site}"
    group, seen = check(codes, lost=[(name, step, late)])
    assert len(group.names) == (3 if name in seen.asked[step] else 4)
    assert (name in group.names) == (name not in seen.asked[step])


def test_two_are_lost_in_different_steps():
    codes = draw((2, 2, 2, 2, 2), 8)
    group, _ = check(codes, lost=[("site-1", STEPS[1], False), ("site-3", STEPS[2], True)])
    assert set(group.names) == {"site-0", "site-2", "site-4"}


# --- over the real engine


class WeakPaillier(PaillierHamming):
    handlers = HANDLERS

    def __init__(self):
        super().__init__(KEY_BITS)


@pytest.fixture
def consortium(monkeypatch):
    monkeypatch.setitem(WAYS, "paillier", WeakPaillier)
    return partial(Consortium, draw_codes((2, 3, 1), 11))


def test_costs_are_what_the_engine_measures(consortium):
    talk = consortium()
    talk.distances("paillier", 11)
    cost = talk.cost("paillier", 11)
    assert talk.measured() == (cost.bytes_up, cost.bytes_down, cost.steps)


@pytest.mark.parametrize("moment", ["restart", "twice", "again"])
def test_restarts_and_repeats_change_nothing(consortium, moment):
    names = consortium().names
    faults = [Fault(name, step, moment) for name in names for step in STEPS]
    talk = consortium(faults=faults)
    group, found = talk.distances("paillier", 11)
    assert list(group.names) == names
    np.testing.assert_array_equal(found, true_distances(talk.codes, names, 11))


@pytest.mark.parametrize("moment", ["before", "during", "late", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_site_is_lost_over_the_engine(consortium, step, moment):
    talk = consortium(faults=[Fault("site-0", step, moment)])
    group, found = talk.distances("paillier", 11)
    assert {"site-1", "site-2"} <= set(group.names)
    np.testing.assert_array_equal(found, true_distances(talk.codes, group.names, 11))


# --- what each party sees


def uniform(numbers, modulus, bins=16):
    """Whether numbers look uniform below a modulus, by χ² over equal bins (15 degrees)."""
    counts = np.bincount([number * bins // modulus for number in numbers], minlength=bins)
    expected = len(numbers) / bins
    return float(((counts - expected) ** 2 / expected).sum()) < 60  # p < 3e-7


def a_pair(n_right=400, n_bits=8, left_bits=None):
    left = np.zeros((3, n_bits), int) if left_bits is None else left_bits
    a = Peer("a", left, "ab")
    b = Peer("b", np.tile([0, 1], (n_right, n_bits // 2)), "ab")
    reply = a.handle(paillier.PaillierEncrypt(KEY_BITS, n_bits))
    return a, b, reply


def what_j_decrypts(a, reply):
    key = a.recall(paillier.PaillierKey).private()
    sealed = unseal(a, "b", "paillier sums", reply.sums["a"], paillier.EncryptedSums)
    return key.decrypt(key.public.unpack(sealed.ciphertexts)), key.public


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


# --- refusals


def refused(rule):
    return pytest.raises(RemoteProtocolError, match=rule)


@pytest.mark.parametrize("key_bits", [-1, 0, 512, 1024, 2047, 10**6])
def test_sites_make_no_weak_keys(key_bits):
    site = Peer("a", np.ones((1, 8), int), "ab")
    with refused("a key that protects nothing"):
        site.handle(paillier.PaillierEncrypt(key_bits, 8), PaillierHamming.handlers)


def test_sites_use_no_weak_keys():
    _, b, reply = a_pair(n_right=1)
    with refused("weak"):
        b.handle(paillier.PaillierAdd(8, {"a": reply.codes}), PaillierHamming.handlers)


@pytest.mark.parametrize("n_bits", [-8, 0, 16, 10**9])
def test_codes_of_another_length_are_refused(n_bits):
    a, b, reply = a_pair(n_right=1)
    for site, request in (
        (a, paillier.PaillierEncrypt(KEY_BITS, n_bits)),
        (b, paillier.PaillierAdd(n_bits, {"a": reply.codes})),
        (a, paillier.PaillierDecrypt(n_bits, True, {})),
    ):
        with refused("codes of another length"):
            site.handle(request)


def test_skipped_swapped_and_turned_messages_are_refused():
    a, b, reply = a_pair(n_right=1)
    fresh = Peer("a", a.bits, "ab")
    sums = b.handle(paillier.PaillierAdd(8, {"a": reply.codes}))
    with refused("a step was skipped"):
        fresh.handle(paillier.PaillierDecrypt(8, True, {"b": sums.sums["a"]}))
    with refused("not sealed"):
        a.handle(paillier.PaillierDecrypt(8, True, {"b": reply.codes}))
    with refused("not sealed"):
        b.handle(paillier.PaillierAdd(8, {"a": sums.sums["a"]}))
    with refused("not a member|not sealed"):
        b.handle(paillier.PaillierAdd(8, {"c": reply.codes}))


ODD = st.one_of(st.binary(max_size=600), st.binary(min_size=128, max_size=128))


@given(modulus=ODD, ciphertexts=ODD)
@settings(max_examples=150, deadline=None)
def test_peers_that_encrypt_nonsense_are_refused(modulus, ciphertexts):
    a, b = Peer("a", np.ones((2, 8), int), "ab"), Peer("b", np.ones((2, 8), int), "ab")
    for content in (paillier.EncryptedCodes(modulus, ciphertexts), paillier.EncryptedSums(modulus)):
        sealed = paillier.seal_for_all(a, "paillier codes", content)
        with refused("not encrypted codes|malformed content|another length"):
            b.handle(paillier.PaillierAdd(8, {"a": sealed}))


KEYED = a_pair(n_right=1)


@given(ODD)
@settings(max_examples=150, deadline=None)
def test_peers_that_add_nonsense_are_refused(data):
    a, b, _ = KEYED
    sealed = seal(b, "a", "paillier sums", paillier.EncryptedSums(data))
    try:
        reply = a.handle(paillier.PaillierDecrypt(8, False, {"b": sealed}))
    except RemoteProtocolError as error:
        assert error.rule == "not encrypted sums"
    else:
        assert len(data) == len(reply.totals["b"]) * 2


@given(st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.data_too_large])
def test_requests_of_nonsense_are_refused(data):
    a, b, reply = KEYED
    site = data.draw(st.sampled_from([a, b]))
    names = st.one_of(st.sampled_from(["a", "b", "c", "*"]), st.text(max_size=4))
    content = st.one_of(
        st.binary(max_size=80),
        st.just(reply.codes),
        st.integers(0, len(reply.codes) - 1).map(lambda cut: reply.codes[:cut]),
        st.integers(0, len(reply.codes) - 1).map(partial(flipped, reply.codes)),
    )
    sealed = st.dictionaries(names, content, min_size=1, max_size=2)
    number = st.one_of(st.just(8), st.integers(-(2**40), 2**40))
    kind = data.draw(st.sampled_from([paillier.PaillierAdd, paillier.PaillierDecrypt]))
    rest = (True,) if kind is paillier.PaillierDecrypt else ()
    message = kind(data.draw(number), *rest, data.draw(sealed))
    try:
        site.handle(message)
    except RemoteProtocolError:
        return
    assert (site, kind, message.n_bits) == (b, paillier.PaillierAdd, 8)
    assert message.codes == {"a": reply.codes}


def flipped(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_replies_of_nonsense_are_refused(data):
    """The server gets what the sites sent, or says that it did not."""
    codes = {"a": np.zeros((2, 4), int), "b": np.ones((1, 4), int)}
    victim = data.draw(st.sampled_from(["a", "b"]))
    kinds = [paillier.PaillierCodes, paillier.PaillierSums, paillier.PaillierTotals]
    kind = data.draw(st.sampled_from(kinds))
    field = data.draw(st.sampled_from([f.name for f in msgspec.structs.fields(kind)]))
    binary = st.one_of(st.binary(max_size=40), st.binary(min_size=128, max_size=128))
    arrays = st.sampled_from([np.zeros(0), np.zeros((1, 1), np.uint16), np.zeros(3, np.uint16)])
    value = {
        "modulus": binary,
        "codes": binary,
        "sums": st.dictionaries(st.sampled_from("abc"), binary),
        "masks": st.dictionaries(st.sampled_from("abc"), binary),
        "totals": st.dictionaries(st.sampled_from("abc"), binary),
        "own": arrays,
    }[field]
    nonsense = data.draw(value)

    def meddle(name, reply):
        if name != victim or type(reply) is not kind:
            return reply
        return msgspec.structs.replace(reply, **{field: nonsense})

    try:
        _, distances, _ = run(codes, meddle=meddle)
    except RemoteProtocolError:
        return
    assert distances.rows(0, 3).max() <= 4


def test_only_a_uniform_mask_makes_the_totals_uniform():
    """The same as above, through the totals that travel to the server."""
    a, b, codes = a_pair()
    sums = b.handle(paillier.PaillierAdd(8, {"a": codes.codes}))
    totals = a.handle(paillier.PaillierDecrypt(8, False, {"b": sums.sums["a"]})).totals["b"]
    public = a.recall(paillier.PaillierKey).private().public
    assert uniform(paillier.from_bytes(totals, public.plain_size), public.modulus)
