"""Trains in two sessions, the second of which goes on from the checkpoint of the first, then evaluates.

    python run.py --seed 2 --iterations 60
"""
import argparse

import numpy as np
import torch

from evaluate import evaluate
from trainer import Config, Trainer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=Config.iterations)
    parser.add_argument("--folder", default=Config.folder)
    parser.add_argument("--episodes", type=int, default=40)
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    cfg = Config(seed=args.seed, iterations=args.iterations, folder=args.folder)
    Trainer(cfg, session=0).train(until=cfg.iterations // 2)
    Trainer(cfg, session=1).train(until=cfg.iterations)

    scores = evaluate(cfg, args.episodes, seed=900_000 + args.seed)
    print(f"evaluated {len(scores)} episodes, worst {min(scores):.1f}")
    print(f"evaluation return {np.mean(scores):.1f}")


if __name__ == "__main__":
    main()
