import argparse
import time

import gymnasium as gym
import numpy as np
import torch
from torch.optim import Adam

import core
import hover  # noqa: F401  (registers Hover-v0)
from logx import EpochLogger


class VPGBuffer:
    """
    Trajectories of one epoch; works out GAE-Lambda advantages and rewards-to-go
    whenever a trajectory is finished.
    """

    def __init__(self, obs_dim, act_dim, size, gamma=0.99, lam=0.95):
        self.obs_buf = np.zeros(core.combined_shape(size, obs_dim), dtype=np.float32)
        self.act_buf = np.zeros(core.combined_shape(size, act_dim), dtype=np.float32)
        self.adv_buf = np.zeros(size, dtype=np.float32)
        self.rew_buf = np.zeros(size, dtype=np.float32)
        self.ret_buf = np.zeros(size, dtype=np.float32)
        self.val_buf = np.zeros(size, dtype=np.float32)
        self.logp_buf = np.zeros(size, dtype=np.float32)
        self.gamma, self.lam = gamma, lam
        self.ptr, self.path_start_idx, self.max_size = 0, 0, size

    def store(self, obs, act, rew, val, logp):
        assert self.ptr < self.max_size  # there has to be room
        self.obs_buf[self.ptr] = obs
        self.act_buf[self.ptr] = act
        self.rew_buf[self.ptr] = rew
        self.val_buf[self.ptr] = val
        self.logp_buf[self.ptr] = logp
        self.ptr += 1

    def finish_path(self, last_val=0):
        """
        To be called at the end of a trajectory. last_val is 0 if the agent died there, and V(s_T)
        if the trajectory was cut off (time limit, end of epoch).
        """
        path_slice = slice(self.path_start_idx, self.ptr)
        rews = np.append(self.rew_buf[path_slice], last_val)
        vals = np.append(self.val_buf[path_slice], last_val)

        deltas = rews[:-1] + self.gamma * vals[1:] - vals[:-1]
        self.adv_buf[path_slice] = core.discount_cumsum(deltas, self.gamma * self.lam)
        self.ret_buf[path_slice] = core.discount_cumsum(rews, self.gamma)[:-1]
        self.path_start_idx = self.ptr

    def get(self):
        assert self.ptr == self.max_size  # the epoch has to be full
        self.ptr, self.path_start_idx = 0, 0
        adv_mean, adv_std = self.adv_buf.mean(), self.adv_buf.std()
        adv = (self.adv_buf - adv_mean) / (adv_std + 1e-8)
        data = dict(obs=self.obs_buf, act=self.act_buf, ret=self.ret_buf, adv=adv, logp=self.logp_buf)
        return {k: torch.as_tensor(v, dtype=torch.float32) for k, v in data.items()}


def vpg(env_fn, actor_critic=core.MLPActorCritic, ac_kwargs=dict(), seed=0, steps_per_epoch=400, epochs=20,
        gamma=0.97, pi_lr=1e-2, vf_lr=1e-2, train_v_iters=20, lam=0.9, output_dir="data"):
    logger = EpochLogger(output_dir)
    logger.save_config(dict(seed=seed, steps_per_epoch=steps_per_epoch, epochs=epochs, gamma=gamma, pi_lr=pi_lr,
                            vf_lr=vf_lr, train_v_iters=train_v_iters, lam=lam))

    torch.manual_seed(seed)
    np.random.seed(seed)

    env = env_fn()
    obs_dim = env.observation_space.shape
    act_dim = env.action_space.shape

    ac = actor_critic(env.observation_space, env.action_space, **ac_kwargs)
    print("Number of parameters: \t pi: %d, \t v: %d" % (core.count_vars(ac.pi), core.count_vars(ac.v)))

    buf = VPGBuffer(obs_dim, act_dim, steps_per_epoch, gamma, lam)

    def compute_loss_pi(data):
        obs, act, adv, logp_old = data["obs"], data["act"], data["adv"], data["logp"]
        pi, logp = ac.pi(obs, act)
        loss_pi = -(logp * adv).mean()
        approx_kl = (logp_old - logp).mean().item()
        ent = pi.entropy().mean().item()
        return loss_pi, dict(kl=approx_kl, ent=ent)

    def compute_loss_v(data):
        obs, ret = data["obs"], data["ret"]
        return ((ac.v(obs) - ret) ** 2).mean()

    pi_optimizer = Adam(ac.pi.parameters(), lr=pi_lr)
    vf_optimizer = Adam(ac.v.parameters(), lr=vf_lr)

    def update():
        data = buf.get()

        pi_l_old, pi_info_old = compute_loss_pi(data)
        pi_l_old = pi_l_old.item()
        v_l_old = compute_loss_v(data).item()

        # one step of gradient ascent on the policy
        pi_optimizer.zero_grad()
        loss_pi, _ = compute_loss_pi(data)
        loss_pi.backward()
        pi_optimizer.step()

        # value function learning
        for i in range(train_v_iters):
            vf_optimizer.zero_grad()
            loss_v = compute_loss_v(data)
            loss_v.backward()
            vf_optimizer.step()

        with torch.no_grad():
            _, pi_info = compute_loss_pi(data)
        logger.store(LossPi=pi_l_old, LossV=v_l_old, KL=pi_info["kl"], Entropy=pi_info_old["ent"],
                     DeltaLossV=loss_v.item() - v_l_old)

    start_time = time.time()
    all_returns = []
    (o, _), ep_ret, ep_len = env.reset(seed=seed), 0, 0

    for epoch in range(epochs):
        for t in range(steps_per_epoch):
            a, v, logp = ac.step(torch.as_tensor(o, dtype=torch.float32))

            next_o, r, terminated, truncated, _ = env.step(a)
            ep_ret += r
            ep_len += 1

            buf.store(o, a, r, v, logp)
            logger.store(VVals=v)
            o = next_o

            epoch_ended = t == steps_per_epoch - 1
            if terminated or truncated or epoch_ended:
                if terminated:
                    v = 0
                else:
                    _, v, _ = ac.step(torch.as_tensor(o, dtype=torch.float32))
                buf.finish_path(v)
                if terminated or truncated:
                    # an episode cut by the end of the epoch has no return to report
                    logger.store(EpRet=ep_ret, EpLen=ep_len)
                    all_returns.append(ep_ret)
                (o, _), ep_ret, ep_len = env.reset(), 0, 0

        update()

        logger.log_tabular("Epoch", epoch)
        logger.log_tabular("EpRet", with_min_and_max=True)
        logger.log_tabular("EpLen", average_only=True)
        logger.log_tabular("VVals", with_min_and_max=True)
        logger.log_tabular("TotalEnvInteracts", (epoch + 1) * steps_per_epoch)
        logger.log_tabular("LossPi", average_only=True)
        logger.log_tabular("LossV", average_only=True)
        logger.log_tabular("DeltaLossV", average_only=True)
        logger.log_tabular("Entropy", average_only=True)
        logger.log_tabular("KL", average_only=True)
        logger.log_tabular("Time", time.time() - start_time)
        logger.dump_tabular(show=epoch % 5 == 4)

    logger.save_state(dict(ac=ac.state_dict(), pi_optimizer=pi_optimizer.state_dict(),
                           vf_optimizer=vf_optimizer.state_dict()))
    logger.close()
    return ac, all_returns


def make(env_id):
    env = gym.make(env_id)
    if isinstance(env.observation_space, gym.spaces.Discrete) or len(env.observation_space.shape) != 1:
        env = gym.wrappers.FlattenObservation(env)
    return env


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--env", type=str, default="Hover-v0")
    parser.add_argument("--hid", type=int, default=32)
    parser.add_argument("--l", type=int, default=2)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--seed", "-s", type=int, default=0)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--exp_name", type=str, default="vpg")
    args = parser.parse_args()

    torch.set_num_threads(1)
    _, returns = vpg(lambda: make(args.env), ac_kwargs=dict(hidden_sizes=[args.hid] * args.l), gamma=args.gamma,
                     seed=args.seed, steps_per_epoch=args.steps, epochs=args.epochs,
                     output_dir=f"data/{args.exp_name}_s{args.seed}")
    print("Mean EpRet of the last 50 episodes: %.3f" % np.mean(returns[-50:]))
