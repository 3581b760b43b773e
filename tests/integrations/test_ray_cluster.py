"""A cluster of two nodes, two raylets on this machine, completes a campaign of which one worker is killed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rldebug.campaign.kept import Kept, complete
from rldebug.campaign.pool import spread as on_this_machine
from rldebug.campaign.task import Failed
from tests.campaign.work import Number, squared, tries

pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytestmark = pytest.mark.integration

# In an interpreter of its own: Ray leaves threads and sockets behind.
CLUSTER = """
import json, sys
from functools import partial
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
cluster.add_node(num_cpus=1)
cluster.wait_for_nodes()
try:
    exec(sys.stdin.read())
finally:
    ray.shutdown()
    cluster.shutdown()
"""
CAMPAIGN = """
from rldebug.campaign.kept import Kept, complete
from rldebug.campaign.task import Failed
from rldebug.integrations.ray import spread
from tests.campaign.work import Number, squared
from tests.integrations.test_ray_cluster import tasks

folder = Path(sys.argv[1])
found = complete(tasks(folder), squared, partial(spread, address=cluster.address, jobs=2), Kept(folder / "kept"))
plain = {key: {"failed": each.reason} if isinstance(each, Failed) else each for key, each in found.items()}
print("found", json.dumps(plain))
"""
COMMAND = """
import os
from rldebug.commands import main
words = [each.replace("ADDRESS", cluster.address) for each in sys.argv[1:]]
main(words)
"""


def tasks(folder: Path) -> list[Number]:
    """The second is killed the first time, the fourth always."""
    here = str(folder)
    return [Number(1, here), Number(2, here, deadly=1), Number(3, here, slow=0.3), Number(4, here, deadly=99)]


def on_a_cluster(code: str, *words: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1", "RAY_DISABLE_IMPORT_WARNING": "1"}
    return subprocess.run(
        [sys.executable, "-c", CLUSTER, *words],
        input=code, capture_output=True, text=True, timeout=300, env=environment, cwd=cwd or root,
    )  # fmt: skip


def test_a_killed_workers_task_is_done_again_and_the_results_are_those_of_this_machine(tmp_path):
    there, here = tmp_path / "ray", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    done = on_a_cluster(CAMPAIGN, str(there))
    (line,) = [each for each in done.stdout.splitlines() if each.startswith("found ")] or [done.stderr[-2000:]]
    found = json.loads(line.removeprefix("found "))
    assert tries(there, 2) == 2
    assert tries(there, 4) == 3  # and then it is given up, and the others go on
    assert "died, 3 times" in found.pop("number 4")["failed"]

    def local(work, todo):
        return on_this_machine(work, todo, 2, warm=())

    expected = complete(tasks(here), squared, local, Kept(here / "kept"))
    assert isinstance(expected.pop("number 4"), Failed)
    assert found == expected == {f"number {each}": {"squared": each**2} for each in (1, 2, 3)}
    assert Kept(there / "kept").known == found  # resumed, it would ask for the fourth alone


@pytest.mark.slow
def test_a_sweep_on_two_nodes_says_what_it_says_here(tmp_path):
    words = ["sweep", "vpg", "--env", "CartPole-v1", "--seeds", "3", "--steps", "600", "--episodes", "2", "--json", "-"]
    done = on_a_cluster(COMMAND, *words, "--answers", str(tmp_path / "a"), "--ray", "ADDRESS", cwd=tmp_path)
    there = json.loads(done.stdout[done.stdout.index("{") :])
    done = subprocess.run(
        [sys.executable, "-m", "rldebug", *words, "--answers", str(tmp_path / "b")],
        capture_output=True, text=True, cwd=tmp_path, timeout=300,
    )  # fmt: skip
    here = json.loads(done.stdout)
    for each in (*there["bands"], *here["bands"]):
        del each["seconds"]
    assert there == here
    assert len(here["bands"][0]["returns"]) == 3
