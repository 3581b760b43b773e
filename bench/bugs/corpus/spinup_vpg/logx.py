import json
import os
import os.path as osp
from collections import defaultdict

import numpy as np
import torch


class EpochLogger:
    """
    Keeps values over an epoch and writes their mean (and spread) as one row.

        logger.store(EpRet=ep_ret)
        logger.log_tabular('EpRet', with_min_and_max=True)
        logger.dump_tabular()
    """

    def __init__(self, output_dir):
        self.output_dir = output_dir
        os.makedirs(output_dir, exist_ok=True)
        self.progress = open(osp.join(output_dir, "progress.txt"), "w")
        self.first_row = True
        self.row = {}
        self.epoch_dict = defaultdict(list)

    def save_config(self, config):
        with open(osp.join(self.output_dir, "config.json"), "w") as f:
            json.dump(config, f, indent=2, default=str)

    def save_state(self, state):
        torch.save(state, osp.join(self.output_dir, "model.pt"))

    def store(self, **kwargs):
        for k, v in kwargs.items():
            self.epoch_dict[k].append(v)

    def log_tabular(self, key, val=None, with_min_and_max=False, average_only=False):
        if val is not None:
            self.row[key] = val
            return
        vals = np.asarray(self.epoch_dict[key], dtype=np.float64)
        self.epoch_dict[key] = []
        mean = vals.mean() if len(vals) else float("nan")
        self.row[key if average_only else "Average" + key] = mean
        if with_min_and_max:
            self.row["Max" + key] = vals.max() if len(vals) else float("nan")
            self.row["Min" + key] = vals.min() if len(vals) else float("nan")

    def dump_tabular(self, show=True):
        if show:
            print("-" * 40)
            for k, v in self.row.items():
                print(f"| {k:>18} | {v:14.4g} |")
        if self.first_row:
            self.progress.write("\t".join(self.row) + "\n")
            self.first_row = False
        self.progress.write("\t".join(f"{v:.6g}" for v in self.row.values()) + "\n")
        self.progress.flush()
        self.row = {}

    def close(self):
        self.progress.close()
