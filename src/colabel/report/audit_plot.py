"""The ROC curves of an audit, on logarithmic axes: what counts is found at few false alarms."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from colabel.privacy.audit import AuditReport
from colabel.privacy.audit.measures import RATES

COLOURS = ("#0f766e", "#b45309", "#1d4ed8", "#9f1239", "#4d7c0f", "#6d28d9")


def draw_audit(report: AuditReport, path: Path) -> Path:
    """Draw each method's strongest attack into an .svg or .png file."""
    with mpl.rc_context({"svg.hashsalt": "colabel"}):  # else the same picture is another file
        figure = _figure(report)
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    return path


def _figure(report: AuditReport) -> Figure:
    figure = Figure(figsize=(5.2, 4.6), layout="tight")  # without pyplot: no screen, no state
    axes = figure.subplots()
    least = min(one.roc.fpr[0] for one in report.methods)
    axes.plot([least, 1], [least, 1], color="#9ca3af", lw=1, ls="--", label="guessing")
    for number, one in enumerate(report.methods):
        found = one.strongest
        axes.plot(
            one.roc.fpr,
            [max(tpr, least) for tpr in one.roc.tpr],
            drawstyle="steps-post",
            color=COLOURS[number % len(COLOURS)],
            label=f"{one.method}, {found.attack}: {found.auc:.3f}",
        )
    for rate in RATES:
        if rate >= least:
            axes.axvline(rate, color="#d1d5db", lw=0.8, zorder=0)
    axes.set(xscale="log", yscale="log", xlim=(least, 1), ylim=(least, 1))
    axes.set_xlabel("false alarms: others taken for members")
    axes.set_ylabel("members found")
    title = "Membership inference" if report.valid else "Membership inference: INVALID audit"
    axes.set_title(title, fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=7.5, frameon=False, loc="lower right")
    return figure
