"""The agent playing."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

from rldebug.evidence.pictures import Clip, picture, read_clips
from rldebug.finding import thousands
from rldebug.render.shown import Section, Shown, details, e

_SHOWN = 8
_INLINE = 3_000_000  # bytes of a clip that become part of a file; of a larger one only its first picture does
_FRESH = 10.0  # seconds for which the newest frame counts as live


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    if main.folder is None:
        return
    clips = read_clips(main.folder)
    live = _live(main)
    if not clips and not live:
        return
    newest, older = clips[-_SHOWN:], clips[:-_SHOWN]
    html = f'<div class="clips">{live}{"".join(_clip(each, main) for each in reversed(newest))}</div>'
    if older and main.linked:
        tiles = "".join(_clip(each, main) for each in reversed(older))
        html += details(f"{len(older)} older ones", f'<div class="clips">{tiles}</div>', "older clips")
    elif older:  # the file would be too large
        html += f"<p>{thousands(len(older))} older ones are in its folder, under clips/.</p>"
    yield Section("clips", "The agent playing", html)


def _live(main: Shown) -> str:
    assert main.folder is not None
    file = picture(main.folder / "clips", "live.png") if main.going_on else None
    if file is None or time.time() - file.stat().st_mtime > _FRESH:
        return ""
    return (
        f'<figure><img src="{e(main.picture(file))}" alt="the newest frame"><figcaption><b>now</b>'
        '<span class="unit">while it trains</span></figcaption></figure>'
    )


def _clip(clip: Clip, main: Shown) -> str:
    gained = "" if math.isnan(clip.episode_return) else f"return {clip.episode_return:.4g} · "
    words = f"{gained}{thousands(clip.length)} steps, {clip.ended}"
    try:
        moving = main.picture(clip.file) if main.linked or clip.file.stat().st_size <= _INLINE else ""
        still = main.picture(clip.poster)
    except OSError:
        return ""
    drawn = f'<img src="{e(still)}" alt="" width="{clip.width}" height="{clip.height}" loading="lazy">'
    if moving:
        drawn = (
            f'<button class="clip" data-clip="{e(moving)}" aria-pressed="false" '
            f'aria-label="play: {e(words)}">{drawn}</button>'
        )
    return (
        f'<figure>{drawn}<figcaption><b>{e(words)}</b><span class="unit">update {thousands(clip.update)} · '
        f"{thousands(clip.env_step)} env steps · {e(clip.env)}</span></figcaption></figure>"
    )
