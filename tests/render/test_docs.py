from pathlib import Path

from rldebug import catalogue
from rldebug.render import docs


def test_one_page_per_rule_an_index_and_the_metrics():
    assert docs.main([]) == 0
    pages = {each.name for each in Path("docs/catalogue").iterdir()}
    assert pages == {"index.md", "metrics.md", *(f"{rule.code}.md" for rule in docs.own_rules())}
    index = Path("docs/catalogue/index.md").read_text(encoding="utf-8")
    assert all(f"[{rule.code}]({rule.code}.md)" in index for rule in docs.own_rules())


def test_pages_of_entries_that_are_gone_go_too():
    docs.main([])
    stale = Path("docs/catalogue/XXX001.md")
    stale.touch()
    docs.main([])
    assert not stale.exists()


def test_check_writes_nothing_and_says_what_is_stale(capsys):
    assert docs.main(["--check"]) == 1
    assert not Path("CATALOGUE.md").exists()
    assert "CATALOGUE.md is stale" in capsys.readouterr().err
    docs.main([])
    assert docs.main(["--check"]) == 0
    Path("CATALOGUE.md").write_text("by hand")
    assert docs.main(["--check"]) == 1


def test_every_entry_is_in_the_committed_list():
    text = docs.catalogue_page()
    assert all(f"[{rule.code}]" in text for rule in docs.own_rules())
    assert all(f"`{name}`" in text for metric in catalogue.metrics() for name in metric.names)


def test_links_lead_to_the_rules():
    root = Path(docs.__file__).parents[3]
    for rule in docs.own_rules():
        assert (root / docs._source(rule)).is_file()
