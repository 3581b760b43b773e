from tests.programs.ranks import child, found

CODE = "SEE356"
BEGINNINGS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def test_fires_where_episodes_begin_alike_and_go_on_differently():
    (finding,) = found(CODE, child(0, firsts=BEGINNINGS), child(1, seen=0.05, firsts=[*BEGINNINGS, 0.7]))
    assert finding.component == "seeding"


def test_quiet_where_each_begins_elsewhere():
    assert not found(CODE, child(0, firsts=BEGINNINGS), child(1, firsts=[each + 0.01 for each in BEGINNINGS]))


def test_quiet_where_every_episode_begins_in_the_same_place():
    assert not found(CODE, child(0, firsts=[0.0] * 8), child(1, firsts=[0.0] * 8))


def test_quiet_where_few_episodes_were_seen():
    assert not found(CODE, child(0, firsts=BEGINNINGS[:2]), child(1, firsts=BEGINNINGS[:2]))
