"""Which run this is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rldebug.finding import thousands
from rldebug.render.shown import Section, Shown, details, e


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    meta = main.run.meta
    env, versions = meta.get("env"), meta.get("versions")
    facts = {
        "environment": env.get("id") if isinstance(env, Mapping) else None,
        # Of the whole run, where they were counted: the last reading may lie long before its end.
        "updates": thousands(max(main.run.updates, _count(meta.get("updates")))),
        "env steps": thousands(max(main.run.env_steps, _count(meta.get("env_steps")))),
        "seconds": meta.get("seconds"),
        "state": meta.get("state"),
        "seed": meta.get("seed"),
        "γ": meta.get("gamma"),
    }
    rest = {
        "started": meta.get("started"),
        "commit": str(meta["git"])[:10] if meta.get("git") else None,
        "command": " ".join(map(str, command)) if isinstance(command := meta.get("command"), list) else None,
        "versions": " ".join(f"{k} {v}" for k, v in versions.items()) if isinstance(versions, Mapping) else None,
    }
    crash = f'<p class="problem">The run ended with {e(meta["error"])}</p>' if meta.get("error") else ""
    state = f'<p class="state" role="status">{e(main.state)}</p>' if main.state else ""
    more = details("started, command, versions", _list(rest), "about") if any(rest.values()) else ""
    yield Section("run", main.title, f"{_list(facts)}{more}{crash}{state}")


def _list(facts: Mapping[str, object]) -> str:
    cells = "".join(f"<div><dt>{e(k)}</dt><dd>{e(v)}</dd></div>" for k, v in facts.items() if v not in (None, ""))
    return f'<dl class="facts">{cells}</dl>'


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0  # from run.json, where a hand may have been at work
