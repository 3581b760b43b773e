"""The program's hyperparameters beside those of the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rldebug.render.shown import Section, Shown, details, e


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    found = main.settings
    if not found or not found["rows"]:
        return
    differing = [each for each in found["rows"] if not each["same"]]
    same = [each for each in found["rows"] if each["same"]]
    reference = f"rldebug's {found['algorithm']}" + (f" on {found['env']}" if found["env"] else "")
    html = f"<p>Beside {e(reference)}: {len(differing)} of {len(found['rows'])} differ.</p>"
    if differing:
        html += _table(differing)
    if same:
        html += details(f"{len(same)} are the same", _table(same), "settings same")
    if found["missing"]:
        rows = "".join(
            f"<tr><th>{e(each['name'])}</th><td>{e(each['value'])}</td><td>{e(each['reason'])}</td></tr>"
            for each in found["missing"]
        )
        table = f'<div class="scroll" tabindex="0"><table>{rows}</table></div>'
        html += details(
            f"{len(found['missing'])} of the reference's were not found in the program", table, "settings missing"
        )
    yield Section("hyperparameters", "Hyperparameters, beside the reference's", html)


def _table(rows: Sequence[dict[str, object]]) -> str:
    body = "".join(
        f"<tr><th>{e(each['name'])}</th><td>{e(each['yours'])}</td><td>{e(each['reference'])}</td>"
        f'<td>{e(each["verdict"])}</td><td class="soft">{e(each["given_as"])}, line {e(each["line"])}</td></tr>'
        for each in rows
    )
    head = "<tr><td></td><th>yours</th><th>reference</th><th></th><th>found as</th></tr>"
    return f'<div class="scroll" tabindex="0"><table class="settings">{head}{body}</table></div>'
