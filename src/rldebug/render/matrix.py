"""The confusion matrix as a picture: which component a bug belongs to, and which one was blamed."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape

from rldebug.benchmark.score import NO_COMPONENT
from rldebug.finding import COMPONENTS

_CELL, _LEFT, _TOP, _FOOT = 30, 150, 150, 58
_NOBODY = "nothing found"
_RIGHT, _WRONG, _MISSED = (33, 120, 78), (190, 60, 50), (110, 110, 110)


def matrix(pairs: Mapping[tuple[str, str], int], title: str) -> str:
    """An SVG. Rows are labels, columns what was blamed first; the shade is the share of the row."""
    rows = [each for each in COMPONENTS if any(label == each for label, _ in pairs)]
    columns = [each for each in COMPONENTS if any(each in pair for pair in pairs)]
    nameless = [NO_COMPONENT] if any(blamed == NO_COMPONENT for _, blamed in pairs) else []
    names = [*columns, *nameless, ""]
    width, height = max(_LEFT + _CELL * len(names) + 60, _LEFT + 160 * 3), _TOP + _CELL * len(rows) + _FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="20" font-size="14" font-weight="600">{escape(title)}</text>',
        '<text x="12" y="38" fill="#555555">rows: the bug · columns: blamed first</text>',
    ]
    for place, name in enumerate(names):
        x = _LEFT + _CELL * place + _CELL / 2 + 4
        shade = "#222222" if name else "#777777"
        parts.append(
            f'<text transform="translate({x:g} {_TOP - 8}) rotate(-55)" fill="{shade}">{escape(name or _NOBODY)}</text>'
        )
    for down, row in enumerate(rows):
        y = _TOP + _CELL * down
        total = sum(count for (label, _), count in pairs.items() if label == row)
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 19}" text-anchor="end">{escape(row)}</text>')
        for across, column in enumerate(names):
            x = _LEFT + _CELL * across
            count = pairs.get((row, column), 0)
            colour = _MISSED if not column else _RIGHT if column == row else _WRONG
            share = count / total if total else 0.0
            fill = _mix(colour, share) if count else "#f6f6f6" if column != row else "#e9f1ec"
            parts.append(f'<rect x="{x}" y="{y}" width="{_CELL - 2}" height="{_CELL - 2}" rx="3" fill="{fill}"/>')
            if count:
                ink = "#ffffff" if share > 0.45 else "#222222"
                middle = x + _CELL / 2 - 1
                parts.append(f'<text x="{middle:g}" y="{y + 19}" text-anchor="middle" fill="{ink}">{count}</text>')
        parts.append(f'<text x="{_LEFT + _CELL * len(names) + 6}" y="{y + 19}" fill="#777777">{total}</text>')
    foot = _TOP + _CELL * len(rows) + 24
    for place, (colour, words) in enumerate(
        ((_RIGHT, "named right"), (_WRONG, "blamed on another"), (_MISSED, _NOBODY))
    ):
        x = _LEFT + 160 * place
        parts.append(f'<rect x="{x}" y="{foot - 11}" width="14" height="14" rx="3" fill="{_mix(colour, 0.8)}"/>')
        parts.append(f'<text x="{x + 20}" y="{foot + 1}">{words}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _mix(colour: tuple[int, int, int], share: float) -> str:
    """From nearly white to the colour itself."""
    weight = 0.2 + 0.8 * share
    return "#" + "".join(f"{round(255 + (each - 255) * weight):02x}" for each in colour)
