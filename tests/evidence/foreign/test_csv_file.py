import pytest

from rldebug.evidence.foreign.arrange import run_of
from rldebug.evidence.foreign.csv_file import read_csv
from rldebug.evidence.run import RunError
from tests.evidence.foreign.logs import progress_csv


def written(folder, text, name="progress.csv"):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_blank_cells_were_not_logged(tmp_path):
    log = read_csv(written(tmp_path, progress_csv(5)))
    assert len(log.columns["rollout/ep_rew_mean"]) == 5
    assert log.columns["train/value_loss"].step.tolist() == [2, 3, 4, 5]
    assert log.problems == ()


def test_cells_that_are_no_numbers_are_named(tmp_path):
    log = read_csv(written(tmp_path, "a,b,device\n1,2,cpu\n3,oops,cpu\n5,nan,cpu\n"))
    assert log.columns["a"].value.tolist() == [1.0, 3.0, 5.0]
    assert len(log.columns["b"]) == 2
    assert "device" not in log.columns
    assert log.problems == ("cells of b that are no numbers were left out, the first is 'oops' in line 3",)


def test_ragged_lines(tmp_path):
    log = read_csv(written(tmp_path, "a,b\n1,2\n3,4,5\n6\n"))
    assert log.columns["a"].value.tolist() == [1.0, 6.0]
    assert log.columns["b"].value.tolist() == [2.0]
    assert log.problems == ("1 lines have more cells than names and were left out, the first is line 3",)


def test_the_monitor_has_a_row_for_each_episode(tmp_path):
    text = '#{"t_start": 1.5, "env_id": "CartPole-v1"}\nr,l,t\n10.0,10,0.5\n30.0,30,1.5\n20.0,20,2.5\n'
    log = read_csv(written(tmp_path, text, "m.monitor.csv"))
    assert log.settings["env_id"] == "CartPole-v1"
    assert log.columns["episodic_return"].step.tolist() == [10, 40, 60]
    run = run_of(log)
    assert run.meta["env"] == {"id": "CartPole-v1"}
    assert run.env_steps == 60
    assert run["episode/return_max"].max() == 30.0
    assert run["episode/count"].value.sum() == 3
    assert [each.seconds for each in run.readings][-1] == 2.5


def test_the_table_of_spinning_up(tmp_path):
    names = "Epoch\tAverageEpRet\tEpLen\tLossPi\tKL\tTotalEnvInteracts"
    text = f"{names}\n0\t20.5\t20\t0.1\t-0.002\t4000\n1\t30\t29\t0.1\t0.01\t8000\n"
    run = run_of(read_csv(written(tmp_path, text, "progress.txt")))
    assert run["episode/return_mean"].value.tolist() == [20.5, 30.0]
    assert run["episode/return_mean"].env_step.tolist() == [4000, 8000]
    assert run["policy/kl_k1"].value.tolist() == [-0.002, 0.01]
    assert "policy/kl" not in run


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "names and no numbers"),
        ("1,2\n3,4\n", "begins with numbers"),
        ("a,b\0,c\n", "not a text file"),
    ],
)
def test_files_that_are_no_log(tmp_path, text, said):
    with pytest.raises(RunError, match=said):
        read_csv(written(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(RunError, match=r"is not a file: expected progress\.csv or monitor\.csv"):
        read_csv(tmp_path / "progress.csv")


def test_the_folder_that_it_lies_in_will_do(tmp_path):
    (tmp_path / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n100,1.0\n200,2.0\n")
    assert len(read_csv(tmp_path).columns["rollout/ep_rew_mean"]) == 2
    (tmp_path / "monitor.csv").write_text("r,l,t\n1,2,3\n")
    with pytest.raises(RunError, match=r"holds progress\.csv and monitor\.csv: expected one of"):
        read_csv(tmp_path)
