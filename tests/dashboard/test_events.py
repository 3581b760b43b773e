import asyncio

from rldebug.dashboard.events import Events

from .conftest import write_run


class Desk:
    """The first look fails."""

    def __init__(self):
        self.steps = 0

    def step(self):
        self.steps += 1
        if self.steps == 1:
            raise RuntimeError("nobody thought of that")
        return True


def test_a_look_that_fails_is_not_the_last(capsys, monkeypatch):
    monkeypatch.setattr("rldebug.dashboard.events._EVERY", 0.01)
    desk = Desk()

    async def look():
        events = Events(desk)
        watching = asyncio.create_task(events.watch())
        while desk.steps < 3:
            await asyncio.sleep(0.01)
        events.close()
        await watching

    asyncio.run(look())
    assert "nobody thought of that" in capsys.readouterr().err


def test_who_looks_is_counted_and_forgotten(root, unable):
    from rldebug.dashboard.desk import Desk

    write_run(root / "a")
    desk = Desk(root)
    desk.runs.look()
    events = Events(desk)

    async def look():
        stream = events.stream({"a"})
        said = [await anext(stream) for _ in range(3)]
        assert (events.pages, desk.lookers["a"]) == (1, 1)
        await stream.aclose()
        return said

    assert "event: runs" in asyncio.run(look())[1]
    assert (events.pages, desk.lookers["a"]) == (0, 0)
    desk.close()
