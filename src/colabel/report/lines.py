"""Curves over rounds as inline SVG, like the charts of `svg`: widths in percent, heights in pixels.

Text stays in place while the plot is stretched to its width: lines lie in an inner picture of
1,000 × 1,000 units that may be distorted, with strokes that may not.
"""

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from colabel.report.svg import AXIS, Series, at, chart, joined, tag

MOST = 400  # points of a curve; more are thinned out, the last one stays


def curves(
    lines: Mapping[Series, Sequence[tuple[int, float]]],
    alt: str,
    *,
    top: float | None = None,
    percent: bool = True,
    height: int = 190,
) -> Markup:
    """A line per series over the rounds, from 0 to `top` (or a round value above all)."""
    values = [y for points in lines.values() for _, y in points]
    last = max((x for points in lines.values() for x, _ in points), default=1)
    highest = top or round_up(max(values, default=1.0))
    plot: list[Markup] = []
    for share in (0.0, 0.5, 1.0):
        y = f"{height * (1 - share):.1f}"
        plot.append(tag("line", class_="grid", x1="0%", x2="100%", y1=y, y2=y))
        label = f"{100 * share * highest:.0f}%" if percent else f"{share * highest:.3g}"
        place = {"dx": -6, "dy": 4, "text_anchor": "end"}
        plot.append(tag("text", label, x="0%", y=y, **place))
    for share in (0.0, 0.5, 1.0):
        label = f"{round(share * last):,}"
        plot.append(tag("text", label, x=at(share), y=height + 16, text_anchor="middle"))
    drawn = [
        tag("polyline", class_=f"curve {series.colour}", points=_path(points, last, highest))
        for series, points in lines.items()
        if len(points) > 1
    ]
    box = {"viewBox": "0 0 1000 1000", "preserveAspectRatio": "none"}
    plot.append(tag("svg", joined(drawn), width="100%", height=height, **box))
    for series, points in lines.items():
        if points:  # the last value can be read by pointing at it
            number, value = points[-1]
            shown = f"{100 * value:.1f} %" if percent else f"{value:.4g}"
            note = f"{series.name}, round {number:,}: {shown}"
            down = f"{height * (1 - min(value / highest, 1)):.1f}"
            spot = {"cx": at(number / last), "cy": down, "r": 4}
            plot.append(tag("circle", tag("title", note), class_=f"{series.colour} dot", **spot))
    inner = tag(
        "svg", joined(plot), x="10%", y=10, width="87%", height=height + AXIS, overflow="visible"
    )
    return chart(height + AXIS + 10, alt, [inner])


def round_up(value: float) -> float:
    """The next of 1, 2, 2.5, 5 or 10 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value * 0.999999)


def _path(points: Sequence[tuple[int, float]], last: int, highest: float) -> str:
    every = -(-len(points) // MOST)
    kept = [*points[:-1:every], points[-1]]
    return " ".join(
        f"{1000 * x / last:.1f},{1000 * (1 - min(y / highest, 1.0)):.1f}" for x, y in kept
    )
