"""Train a copy of rldebug's A2C that lies beside this script, so that it can be changed."""

import argparse
import importlib
import sys

import rldebug

sys.modules["rldebug.algos.a2c"] = importlib.import_module("a2c")  # instead of the one in the package


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    trained = rldebug.train(
        "a2c", options.env, steps=options.steps, seed=options.seed, episodes=20, record=False, quiet=True
    )
    greedy = trained.summary.greedy
    print(f"greedy return over {len(greedy)} episodes: {sum(greedy) / len(greedy):.1f}")


if __name__ == "__main__":
    main()
