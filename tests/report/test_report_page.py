import html
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from colabel.data import Site, Sites
from colabel.engines.faults import Fault
from colabel.federation.plan import LabellingPlan
from colabel.jobs.label import label, label_alone, label_pooled
from colabel.report import Compared, summarise, write_report
from colabel.runs import RunFolder, labels_table

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
EVIL = "<b>&\"'</b>"
LONG = "a-very-long-name-of-a-hospital-without-any-blank-in-it-at-all-so-that-nothing-can-break"


def make_run(
    folder: Path, *, truth: bool, n_sites: int = 3, faults: tuple[Fault, ...] = ()
) -> Path:
    rng = np.random.default_rng(1)
    names = [EVIL, LONG, *(f"site-{s}" for s in range(2, n_sites))][:n_sites]
    held, true = [], {}
    for name in names:
        kinds = rng.integers(0, 2, 24)
        kinds[:2] = 0, 1
        points = rng.normal(size=(24, 3)) + 6 * kinds[:, None] - 3
        held.append(Site(name, points, np.where(np.arange(24) < 3, kinds, -1)))
        true[name] = kinds.astype(np.int64)
    sites = Sites(tuple(held), (EVIL, LONG))
    plan = LabellingPlan(n_classes=2, n_neighbors=4, n_bits=256, hamming="clear", seed=b"s" * 32)
    run = RunFolder.start(folder, "label", settings={"n_bits": 256}, seeds={"s": None}, sites=sites)
    with run.recording():
        across = label(sites, plan, faults=faults, listen=run.listen)
        compared = Compared(across, label_alone(sites, plan), label_pooled(sites, plan))
        results = summarise(EVIL, sites, compared, plan=plan, truth=true if truth else None)
        run.finish(results, across.ledger, labels_table(sites, across.own))
    return write_report(folder)


class Checker(HTMLParser):
    """Collects what must not be there, and checks that elements close."""

    VOID = frozenset({"meta", "link", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.tables = self.captions = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        for key, value in attrs:
            if key in {"src", "href"} and value != "data:,":
                self.loads.append(f"{tag} {key}={value}")
        self.tables += tag == "table"
        self.captions += tag == "caption"
        if tag == "svg":
            assert (
                {"role", "aria-label"} <= dict(attrs).keys()
                or self.open.count("svg") > 1
                or ("aria-hidden" in dict(attrs))
            )

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Nothing to close."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("truth", [True, False])
def test_page_is_whole_and_alone(tmp_path: Path, truth: bool) -> None:
    page = make_run(tmp_path / "r", truth=truth).read_text()
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert checker.loads == []
    assert checker.tables == checker.captions > 5
    assert "<script" not in page
    assert not re.search(r"url\(|@import|https?://", page)
    assert EVIL not in page
    assert html.escape(EVIL, quote=False)[:6] in page
    assert ("expected calibration" in page) == truth
    assert ("--truth-column" in page) != truth
    assert "nan" not in re.sub(r"<style>.*</style>", "", page, flags=re.S).lower().split()


def test_lost_sites_are_shown(tmp_path: Path) -> None:
    lost = (Fault(LONG, "codes", "before"),)
    page = make_run(tmp_path / "r", truth=True, faults=lost).read_text()
    assert '<span class="badge warn">lost</span>' in page


def test_many_sites(tmp_path: Path) -> None:
    page = make_run(tmp_path / "r", truth=True, n_sites=45).read_text()
    assert "first 40 of 45 sites" in page
    assert "site-44" in page


def measure(page: str, scratch: Path, width: int) -> tuple[str, str]:
    """The widths that Chromium lays the page out with, inside a frame of a width; its log."""
    frame = scratch / "frame.html"
    frame.write_text(
        f'<!doctype html><iframe id="f" style="border:0;width:{width}px;height:900px" srcdoc="'
        + html.escape(page, quote=True)
        + '"></iframe><p id="found">nothing</p><script>onload = () => {'
        "const d = document.getElementById('f').contentDocument, e = d.documentElement;"
        "const bars = [...d.querySelectorAll('svg.chart')].every(s => s.getBBox().width > 100);"
        "document.getElementById('found').textContent ="
        " `overflow=${e.scrollWidth - e.clientWidth} charts=${bars}"
        " title=${d.querySelector('h1').textContent.length}`; }</script>"
    )
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--disable-background-networking", "--enable-logging=stderr", "--v=0",
        f"--user-data-dir={scratch / 'profile'}", "--dump-dom", f"file://{frame}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)  # noqa: S603
    found = re.search(r'<p id="found">(.*?)</p>', done.stdout)
    assert found is not None, done.stderr
    return found.group(1), done.stderr


@needs_chromium
@pytest.mark.parametrize("width", [400, 1280])
def test_chromium_renders_it(tmp_path: Path, width: int) -> None:
    page = make_run(tmp_path / "r", truth=True).read_text()
    found, log = measure(page, tmp_path, width)
    assert found == f"overflow=0 charts=true title={len(EVIL)}"
    assert "CONSOLE" not in log, log


@needs_chromium
def test_chromium_would_see_what_is_wrong(tmp_path: Path) -> None:
    page = make_run(tmp_path / "r", truth=True).read_text()
    broken = page.replace(
        "</main>", "<p style='width:900px'>wide</p><img src='http://localhost/x'></main>"
    )
    found, log = measure(broken, tmp_path, 400)
    assert "overflow=0" not in found
    assert "CONSOLE" in log
