"""The roster: all sites and keys, or every problem at once; and a fingerprint that means it."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colabel.consortium import fingerprint, read_roster
from colabel.crypto.identity import Identity, PublicIdentity
from colabel.errors import InputError

KEYS = {number: Identity(bytes([number]) * 32).public for number in range(1, 6)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "roster.toml"


def problems_of(path, text):
    path.write_text(text)
    with pytest.raises(InputError) as refusal:
        read_roster(path)
    return refusal.value.problems


def test_a_good_roster(path):
    path.write_text(f'[sites]\n"clinic b" = "{KEYS[2]}"\nclinic-a = "{KEYS[1]}"\n')
    found = read_roster(path)
    assert dict(found) == {"clinic b": KEYS[2], "clinic-a": KEYS[1]}


def test_all_problems_at_once(path):
    found = problems_of(
        path,
        f'title = "ours"\n[site]\nx = 1\n[sites]\ngood = "{KEYS[1]}"\ntwin = "{KEYS[1]}"\n'
        f'short = "ed25519:AAAA"\nnumber = 7\ncut = "{str(KEYS[2])[:-1]}"\n'
        f'also-twin = "{KEYS[1]}"\n"old" = "x25519:{"A" * 43}="\n[sites.table]\na = 1\n',
    )
    assert [(problem.site, problem.what.replace(str(path), "roster")) for problem in found] == [
        (None, "roster has an unknown table 'title'"),
        (None, "roster has an unknown table 'site'"),
        ("twin", "good has the same key"),
        ("short", "not a public key: a public key has 32 bytes, this one has 3"),
        ("number", "not a public key: a public key begins with 'ed25519:'"),
        ("cut", "not a public key: not base64: Incorrect padding"),
        ("also-twin", "good has the same key"),
        ("old", "not a public key: a public key begins with 'ed25519:'"),
        ("table", "not a public key: a public key begins with 'ed25519:'"),
    ]
    assert all(problem.fix for problem in found)
    assert found[1].fix == "Did you mean 'sites'?"


@pytest.mark.parametrize("text", ["", "[sites]", "sites = 3", "sites = []", 'a = "b"', "[[sites]]"])
def test_no_sites(path, text):
    found = problems_of(path, text)
    assert "has no table [sites], or it is empty" in found[-1].what
    assert len(found) == (2 if text == 'a = "b"' else 1)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[sites\n", "line 1"),
        (f'[sites]\na = "{KEYS[1]}"\na = "{KEYS[2]}"\n', "line 3"),
        ("[sites]\na b = 3\n", "line 2"),
    ],
    ids=["open", "one name twice", "a name without quotes"],
)
def test_what_is_not_toml(path, text, where):
    (problem,) = problems_of(path, text)
    assert "is not TOML" in problem.what
    assert where in problem.what


def test_what_is_not_text(path):
    path.write_bytes(b"[sites]\na = '\xff'\n")
    with pytest.raises(InputError, match="is not TOML"):
        read_roster(path)


def test_no_roster(path):
    with pytest.raises(InputError, match=r"there is no roster .*roster.toml. Collect the lines"):
        read_roster(path)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_refused_by_name(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    for content in (text, "[sites]\n" + text):
        path.write_text(content, "utf-8", newline="")
        with pytest.raises(InputError):
            read_roster(path)


# --- the fingerprint

NAMES = st.text(max_size=8)
ROSTERS = st.dictionaries(NAMES, st.sampled_from(list(KEYS.values())), min_size=1, max_size=4)


def test_the_fingerprint_stays_what_it_is():
    """Sites compare it across versions: it may change on purpose only."""
    assert fingerprint({"b": KEYS[2], "a": KEYS[1]}) == "12a0 b2f0 5c3b c6a5 e74e 51ce c820 7781"


def test_the_order_of_the_lines_does_not_matter(path):
    lines = [f'site-{number} = "{key}"' for number, key in KEYS.items()]
    found = []
    for order in (lines, lines[::-1]):
        path.write_text("[sites]\n" + "\n".join(order) + "\n# a comment\n")
        found.append(fingerprint(read_roster(path)))
    assert found[0] == found[1]
    assert len(found[0].split()) == 8
    assert all(len(group) == 4 for group in found[0].split())


@settings(max_examples=200)
@given(ROSTERS, ROSTERS)
def test_other_rosters_have_other_fingerprints(one, other):
    assert (fingerprint(one) == fingerprint(other)) == (one == other)


@pytest.mark.parametrize("number", KEYS)
def test_every_bit_of_a_key_counts(number):
    seen = {fingerprint({"a": KEYS[number]})}
    for place in range(256):
        raw = bytearray(KEYS[number].raw)
        raw[place // 8] ^= 1 << place % 8
        seen.add(fingerprint({"a": PublicIdentity(bytes(raw))}))
    assert len(seen) == 257


def test_a_name_cannot_pretend_to_be_two_sites():
    """A name may hold anything, line ends and keys too."""
    two = {"a": KEYS[1], "b": KEYS[2]}
    for joint in (f"a {KEYS[1]}\nb", f'a", "{KEYS[1]}"], ["b'):
        one = {joint: KEYS[2]}
        assert tomllib.loads(f"{json.dumps(joint)} = 1") == {joint: 1}
        assert fingerprint(one) != fingerprint(two)
