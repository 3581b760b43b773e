import re
from html.parser import HTMLParser

from rldebug.render.page import page
from rldebug.render.sections import shelf
from rldebug.render.sections.shelf import sections

from .shown import HOSTILE, pictures, run, shown

ORDER = [
    "run", "diagnosis", "learning", "trace", "environment", "policy", "gradient-flow", "distributions", "graph",
    "hyperparameters", "frames", "clips", "table-parameters", "table-layers", "table-layer-gradients", "losses",
]  # fmt: skip


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.handlers = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        if tag not in ("img", "br", "rect", "polyline", "input", "meta"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag("br", attrs)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_diagnosis_first_losses_last(tmp_path):
    assert [each.id for each in sections(shown(path=pictures(tmp_path)))] == ORDER


def test_every_section_is_whole_html(tmp_path):
    for each in sections(shown(path=pictures(tmp_path)), [shown("other")]):
        assert Tags(each.html).open == [], each.id


def test_nothing_hostile_becomes_markup(tmp_path):
    made = sections(shown(HOSTILE, path=pictures(tmp_path, HOSTILE)), [shown(HOSTILE, shift=1.0)])
    assert {each.id for each in made} > {"comparison", "frames", "clips", "hyperparameters", "diagnosis"}
    for each in made:
        tags = Tags(each.html)
        assert not tags.handlers, each.id
        assert "script" not in tags.seen, each.id
        assert not re.search(r"<img src=[\"']?x", each.html), each.id
        assert "onerror" in each.html or HOSTILE not in each.title, each.id


def test_every_chart_stands_in_the_section_that_names_it(tmp_path):
    for each in sections(shown(path=pictures(tmp_path))):
        places = re.findall(r'data-chart="([^"]*)"', each.html)
        assert sorted(places) == sorted(f"{each.id}.{place}" for place in range(len(each.charts)))


def test_a_section_that_fails_says_so_in_its_place(monkeypatch):
    def sections_(main, others):
        raise ValueError("what went wrong")
        yield

    monkeypatch.setattr(shelf, "SHELF", (sections_, *shelf.SHELF))
    first, second, *_ = sections(shown())
    assert "what went wrong" in first.html
    assert second.id == "run"


def test_a_run_that_is_not_judged_yet_has_its_charts():
    made = {each.id: each for each in sections(shown(report=None))}
    assert "not looked at yet" in made["diagnosis"].html
    assert made["policy"].charts


def test_several_runs_are_drawn_over_one_another_and_where_they_part_is_marked():
    made = {each.id: each for each in sections(shown(), [shown(shift=5.0), shown(shift=7.0)])}
    (spec,) = made["learning"].charts
    assert [each.get("run", 0) for each in spec["curves"]] == [0, 1, 2]
    assert {"update": 0, "env_step": 0, "code": "part", "severity": "soft"} in spec["marks"]
    assert "episode/return_mean</b> first" in made["comparison"].html


def test_runs_that_are_the_same_are_said_to_be():
    made = {each.id: each for each in sections(shown(), [shown()])}
    assert "The same on 40 updates" in made["comparison"].html


def test_runs_without_a_common_update_are_said_not_to_be_comparable():
    other = shown()
    late = type(other)(run(readings=0))
    assert "no recorded update in common" in {each.id: each for each in sections(other, [late])}["comparison"].html


def test_pictures_are_part_of_a_file_that_is_sent_to_a_colleague(tmp_path):
    html = page(shown(path=pictures(tmp_path)))
    ours = re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    assert ours.count('="data:image/png;base64,') == 4  # two sides; a clip, and its first picture
    assert str(tmp_path) not in html


def test_the_line_that_a_finding_points_at_is_shown():
    made = {each.id: each for each in sections(shown("train.py"))}
    assert '<span class="at"><i>2</i>train.py</span>' in made["diagnosis"].html
