"""The ways to compare codes, and the steps of each."""

from sessions import SETUP_STEPS, Consortium

STEPS = {  # for codes of a few bits: transfers have one step more for each chunk
    "clear": ["codes"],
    "sketch": ["sketch.send"],
    "dealer": ["dealer.exchange", "dealer.compare"],
    "lattice": ["lattice.encrypt", "lattice.multiply", "lattice.decrypt"],
    "ot": [f"ot.{number}" for number in range(5)],
    "paillier": ["paillier.codes", "paillier.sums", "paillier.totals"],
}
PROTECTED = [way for way in STEPS if way != "clear"]


def steps_of(way, codes, n_bits):
    """The steps that a run takes."""
    talk = Consortium(codes)
    talk.distances(way, n_bits)
    steps = [event["step"] for event in talk.seen if event["event"] == "step"]
    return [step for step in steps if step not in SETUP_STEPS]
