"""Small charts as inline SVG: widths in percent, heights in pixels, colours from the page's CSS.

So a chart fills any width without its text growing or shrinking, in light and in dark.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

ROW = 26
AXIS = 22


class Series(NamedTuple):
    """What one kind of mark stands for; `mark` is dot, ring or tick."""

    name: str
    mark: str
    colour: str


def tag(name: str, content: str = "", **attributes: object) -> Markup:
    """One element; underscores in the names of attributes stand for hyphens."""
    named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    written = " ".join(f'{key}="{escape(value)}"' for key, value in named.items())
    inside = content if isinstance(content, Markup) else escape(content)
    return Markup(f"<{name} {written}>{inside}</{name}>")  # noqa: S704  # all parts are escaped


def joined(parts: Sequence[Markup]) -> Markup:
    """Elements one after the other."""
    return Markup("").join(parts)


def chart(height: int, alt: str, parts: Sequence[Markup]) -> Markup:
    """The whole picture, with a text for those who do not see it."""
    look = {"class_": "chart", "role": "img", "aria_label": alt}
    return tag("svg", joined(parts), width="100%", height=height, **look)


def at(share: float) -> str:
    """A position from 0 to 1 as SVG wants it."""
    return f"{100 * share:.2f}%"


def mark(series: Series, x: float, y: float, note: str) -> Markup:
    """One mark of a series, with what it says when pointed at."""
    title = tag("title", note)
    look = f"{series.colour} {series.mark}"
    if series.mark == "tick":
        return tag("line", title, class_=look, x1=at(x), x2=at(x), y1=y - 8, y2=y + 8)
    return tag("circle", title, class_=look, cx=at(x), cy=y, r=5)


def ticks(top: float) -> list[float]:
    """Four or five round values from 0 to `top`."""
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25) if s * 5 >= top or s == 0.25)
    return [i * step for i in range(int(top / step + 1e-9) + 1)]


def dot_rows(
    rows: Mapping[str, Sequence[float | None]], series: Sequence[Series], alt: str
) -> Markup:
    """A row per name, with a mark per series on an axis in percent that starts at 0."""
    values = [value for row in rows.values() for value in row if value is not None]
    top = max(_round_up(max(values, default=1.0)), 0.05)
    height = ROW * len(rows)
    plot: list[Markup] = []
    for value in ticks(top):
        x = value / top
        plot.append(tag("line", class_="grid", x1=at(x), x2=at(x), y1=0, y2=height))
        label = f"{100 * value:.0f}%"
        plot.append(tag("text", label, x=at(x), y=height + 16, text_anchor="middle"))
    names: list[Markup] = []
    for i, (name, row) in enumerate(rows.items()):
        y = ROW * i + ROW / 2
        names.append(tag("text", _short(name), x="0%", y=y + 4, class_="name"))
        plot += _row(series, [None if v is None else v / top for v in row], row, y)
    inner = tag("svg", joined(plot), x="28%", width="68%", height=height + AXIS, overflow="visible")
    return chart(height + AXIS, alt, [*names, inner])


def _row(
    series: Sequence[Series],
    places: Sequence[float | None],
    row: Sequence[float | None],
    y: float,
) -> list[Markup]:
    known = [x for x in places if x is not None]
    parts = [tag("line", class_="base", x1="0%", x2="100%", y1=y, y2=y)]
    if len(known) > 1:
        span = {"x1": at(min(known)), "x2": at(max(known))}
        parts.append(tag("line", class_="span", y1=y, y2=y, **span))
    for one, x, value in zip(series, places, row, strict=True):
        if x is not None and value is not None:
            parts.append(mark(one, x, y, f"{one.name}: {100 * value:.1f} %"))
    return parts


def _short(name: str) -> str:
    return name if len(name) <= 14 else f"{name[:13]}…"


def _round_up(value: float) -> float:
    """The top of the axis: the next multiple of a tenth."""
    return min(-(-round(value * 1000) // 100) / 10, 1.0)


def histogram(edges: Sequence[float], counts: Sequence[int], alt: str, height: int = 170) -> Markup:
    """Bars from 0 to 1."""
    top = max(max(counts, default=0), 1)
    parts = _frame(height, [(1.0, f"{top:,}"), (0.5, f"{top // 2:,}" if top > 1 else "")])
    for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
        tall = count / top * height
        note = tag("title", f"{low:.2f} to {high:.2f}: {count:,} points")
        parts.append(
            tag(
                "rect", note, class_="across bar", x=at(low), y=f"{height - tall:.1f}",
                width=at((high - low) * 0.88), height=f"{tall:.1f}",
            )
        )  # fmt: skip
    return _framed(parts, height, alt)


def reliability(
    confidence: Sequence[float | None],
    accuracy: Sequence[float | None],
    counts: Sequence[int],
    alt: str,
    height: int = 170,
) -> Markup:
    """Accuracy over confidence, one dot per bin, larger for more points; the diagonal is ideal."""
    parts = _frame(height, [(1.0, "100%"), (0.5, "50%")])
    parts.append(tag("line", class_="ideal", x1="0%", x2="100%", y1=height, y2=0))
    most = max(max(counts, default=1), 1)
    for x, y, count in zip(confidence, accuracy, counts, strict=True):
        if x is not None and y is not None:
            note = f"confidence {x:.2f}: {100 * y:.0f} % right, {count:,} points"
            parts.append(
                tag(
                    "circle", tag("title", note), class_="across dot", cx=at(x),
                    cy=f"{height * (1 - y):.1f}", r=f"{3 + 6 * (count / most) ** 0.5:.1f}",
                )
            )  # fmt: skip
    return _framed(parts, height, alt)


def _frame(height: int, levels: Sequence[tuple[float, str]]) -> list[Markup]:
    parts = [tag("line", class_="axis", x1="0%", x2="100%", y1=height, y2=height)]
    for level, label in levels:
        y = f"{height * (1 - level):.1f}"
        parts.append(tag("line", class_="grid", x1="0%", x2="100%", y1=y, y2=y))
        place = {"dx": -6, "dy": 4, "text_anchor": "end"}
        parts.append(tag("text", label, x="0%", y=y, **place))
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(tag("text", f"{value:g}", x=at(value), y=height + 16, text_anchor="middle"))
    return parts


def _framed(parts: Sequence[Markup], height: int, alt: str) -> Markup:
    inner = tag(
        "svg", joined(parts), x="13%", y=10, width="83%", height=height + AXIS, overflow="visible"
    )
    return chart(height + AXIS + 10, alt, [inner])
