"""What was read from the source as SARIF 2.1.0, the format in which code-hosting sites take what linters say."""

from __future__ import annotations

import hashlib
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rldebug import catalogue
from rldebug.entry import sections
from rldebug.finding import Edit, Finding, Report
from rldebug.render.json import write_data
from rldebug.rule import Rule

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def write_sarif(report: Report, file: str) -> None:
    write_data(sarif(report), file)


def sarif(report: Report) -> dict[str, Any]:
    with catalogue.narrowed(frozenset({"Source"})):
        known = {rule.code: rule for rule in catalogue.rules()}
    codes = sorted({each.code for each in report.findings})
    driver = {
        "name": "rldebug",
        "version": _version(),
        "rules": [_rule(known[code]) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, codes.index(each.code)) for each in report.findings],
        "invocations": [
            {
                "executionSuccessful": report.exit != 2,
                "toolExecutionNotifications": [
                    {"level": "error", "message": {"text": each}}
                    for each in (*report.problems, *(f"{name} failed" for name in report.broken))
                ],
            }
        ],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _version() -> str:
    try:
        return version("rldebug")
    except PackageNotFoundError:
        return "0"


def _rule(rule: type[Rule]) -> dict[str, Any]:
    page = sections(rule.page())
    told = {key: value for key, value in page.items() if key != "References"}
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.summary()},
        "fullDescription": {"text": " ".join(page.get("Why it matters", rule.summary()).split())},
        "help": {
            "text": "\n\n".join(f"{title}\n{body}" for title, body in told.items()),
            "markdown": "\n\n".join(f"## {title}\n{body}" for title, body in told.items()),
        },
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": ["reinforcement-learning", rule.component()], "slug": rule.name},
    }


def _result(finding: Finding, index: int) -> dict[str, Any]:
    uri = _uri(finding.where.file or "")
    region: dict[str, int] = {"startLine": finding.where.line or 1}
    if finding.where.column:
        region["startColumn"] = finding.where.column
    if finding.where.end_line:
        region["endLine"] = finding.where.end_line
    # What stays the same when lines are added above: a site that is told again knows it has been told.
    mark = hashlib.sha256(f"{finding.code} {uri} {finding.seen}".encode()).hexdigest()[:32]
    told: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": f"{finding.message}. Expected: {finding.expected}. Help: {finding.help}"},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}],
        "partialFingerprints": {"rldebug/v1": mark},
        "rank": round(100 * finding.confidence, 1),
    }
    if finding.edits:
        changes = {"artifactLocation": {"uri": uri}, "replacements": [_replacement(each) for each in finding.edits]}
        told["fixes"] = [{"description": {"text": finding.help}, "artifactChanges": [changes]}]
    return told


def _replacement(edit: Edit) -> dict[str, Any]:
    region = {
        "startLine": edit.line,
        "startColumn": edit.column,
        "endLine": edit.end_line,
        "endColumn": edit.end_column,
    }
    return {"deletedRegion": region, "insertedContent": {"text": edit.text}}


def _uri(file: str) -> str:
    """Relative to the current folder, which in a check-out is what the site knows; else absolute."""
    try:
        short = os.path.relpath(file)
    except ValueError:  # another drive
        short = file
    if short.startswith(".."):
        return Path(file).resolve().as_uri()
    return quote(Path(short).as_posix())
