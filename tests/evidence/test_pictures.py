import json
import os

import pytest

from rldebug.evidence.pictures import picture, read_clips, read_looks

PNG = b"\x89PNG\r\n\x1a\n"


def side(**more):
    return {"shape": [4], "dtype": "float32", "min": 0.0, "max": 1.0, "mean": 0.5, "std": 0.1, "png": None} | more


def look(n, **more):
    at = {"n": n, "update": n, "env_step": 10 * n, "seconds": 0.1, "source": "network", "name": "policy"}
    return at | {"before": side(values=[1, 2]), "after": side(values=[0.1, 0.2])} | more


def clip(n, **more):
    names = {"file": f"{n:06}.png", "poster": f"{n:06}-first.png", "env": "CartPole-v1", "ended": "terminated"}
    return {"n": n, "update": n, "env_step": n, "seconds": 1, "return": 9.0, "length": 9, "frames": 9, "fps": 15} | (
        {"width": 300, "height": 200} | names | more
    )


@pytest.fixture
def kept(tmp_path):
    def write(kind, *lines):
        folder = tmp_path / kind
        folder.mkdir(exist_ok=True)
        text = [each if isinstance(each, str) else json.dumps(each) for each in lines]
        (folder / "index.jsonl").write_text("\n".join(text) + "\n")
        return tmp_path

    return write


def test_looks_are_read_in_order(kept):
    found = read_looks(kept("frames", look(1), look(2, source="preprocess", name="scale")))
    assert [(each.update, each.source, each.name) for each in found] == [
        (1, "network", "policy"),
        (2, "preprocess", "scale"),
    ]
    assert found[0].before.values == (1.0, 2.0)
    assert found[0].after.shape == (4,)


@pytest.mark.parametrize(
    "line",
    [
        '{"n": 1, "upd',
        "[]",
        "7",
        "null",
        json.dumps(look(1, before="x")),
        json.dumps(look(1, update="many")),
        json.dumps(look(1, after=side(shape=None))),
        json.dumps(look(1, before=side(), after=side())),  # nothing to see
        '{"update": 1e999}',
        "[" * 100_000,
    ],
)
def test_what_is_not_as_it_should_be_is_left_out(kept, line):
    found = read_looks(kept("frames", line, look(5)))
    assert [each.update for each in found] == [5]


@pytest.mark.parametrize(
    "name", ["../run.json", "/etc/passwd", "000001.png/..", "x.png", "000001.gif", None, 7, "000001.png\0"]
)
def test_only_pictures_of_the_folder_are_shown(tmp_path, name):
    (tmp_path / "000001.png").write_bytes(PNG)
    assert picture(tmp_path, name) is None
    assert picture(tmp_path, "000001.png") == tmp_path / "000001.png"


def test_links_are_not_followed(kept, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"x")
    folder = kept("clips", clip(1), clip(2))
    (folder / "clips" / "000001.png").symlink_to(secret)
    (folder / "clips" / "000002.png").write_bytes(PNG)
    assert [each.update for each in read_clips(folder)] == [2]
    os.rename(folder / "clips", folder / "elsewhere")
    (folder / "clips").symlink_to(folder / "elsewhere")
    assert read_clips(folder) == []


def test_a_clip_without_its_first_picture_is_its_own(kept):
    folder = kept("clips", clip(1))
    (folder / "clips" / "000001.png").write_bytes(PNG)
    (found,) = read_clips(folder)
    assert found.poster == found.file
    assert (found.episode_return, found.ended) == (9.0, "terminated")


def test_no_folder_no_pictures(tmp_path):
    assert read_looks(tmp_path) == []
    assert read_clips(tmp_path / "nowhere") == []
