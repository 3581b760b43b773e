"""What the names of hyperparameters mean, and for which algorithms.

A concept is what is meant (`discount`); its names are what it is called by Stable-Baselines3, CleanRL, Spinning Up,
TorchRL, Tianshou, RLlib, and in scripts. The same name may mean one thing for PPO and another for DQN.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

EVERY = ()
ON_POLICY = ("vpg", "a2c", "ppo", "trpo")
OFF_POLICY = ("dqn", "sac")

# A name with a ? counts only where no surer one is in the file.
NAMES: dict[tuple[str, ...], dict[str, str]] = {
    EVERY: {
        "discount": "gamma discount discount_factor discount_rate reward_discount gamma_discount",
        "lr": "lr learning_rate adam_lr optimizer_lr optim_lr init_lr initial_lr base_lr lr_start",
        "policy_lr": "pi_lr policy_lr actor_lr lr_actor lr_policy lr_pi policy_learning_rate actor_learning_rate",
        "value_lr": """
            vf_lr value_lr critic_lr q_lr qf_lr lr_critic lr_value lr_q v_lr lr_v critic_learning_rate
            value_learning_rate baseline_lr
        """,
        "anneal_lr": "anneal_lr anneal lr_decay lr_anneal decay_lr use_linear_lr_decay anneal_learning_rate",
        "adam_eps": "adam_eps adam_epsilon optimizer_eps optim_eps opt_eps rms_prop_eps rmsprop_eps rms_eps",
        "rms_alpha": "rms_alpha rms_prop_alpha rmsprop_alpha",
        "weight_decay": "weight_decay",
        "max_grad_norm": """
            max_grad_norm grad_clip clip_grad gradient_clip gradient_clip_norm clip_grad_norm grad_norm_clip
            grad_clip_norm max_gradient_norm gradient_clipping grad_norm_clipping
        """,
        "hidden": """
            hidden hidden_sizes hidden_size hidden_dim hidden_dims hidden_units hidden_width net_arch layer_sizes
            fcnet_hiddens hiddens mlp_hidden_sizes num_cells hid
        """,
        "normalise_obs": "normalise_obs normalize_obs norm_obs obs_norm normalize_observations normalise_observations",
        "scale_reward": """
            scale_reward norm_reward reward_norm rew_norm normalize_reward normalize_rewards normalise_reward
        """,
        "activation": "activation activation_fn nonlinearity fcnet_activation",
        "n_envs": """
            envs n_envs num_envs n_env num_env nenvs num_processes training_num parallel_envs num_parallel_envs
            num_training_envs n_parallel_envs env_per_collector
        """,
        "total_steps": """
            total_timesteps total_steps total_frames n_timesteps max_timesteps num_env_steps total_env_steps
            max_training_timesteps num_timesteps
        """,
        "log_std": "log_std log_std_init init_log_std initial_log_std",
    },
    ON_POLICY: {
        "lam": "lam lambda lmbda gae_lambda gae_lam lambda_gae gae_lmbda td_lambda",
        "rollout_steps": """
            n_steps num_steps nsteps rollout_steps rollout_length rollout_len unroll_length steps_per_env
            n_rollout_steps num_rollout_steps steps_per_rollout rollout_fragment_length t_horizon horizon?
        """,
        "rollout_total": """
            steps_per_epoch frames_per_batch step_per_collect train_batch_size rollout_size timesteps_per_batch
            steps_per_batch update_timestep collection_step_num_env_steps steps_per_update batch_steps
            steps_per_iteration
        """,
        "value_coef": """
            vf_coef value_coef value_coeff vf_coeff vf_loss_coeff value_loss_coef value_loss_coeff critic_coef
            critic_coeff value_weight value_loss_weight baseline_cost
        """,
        "entropy_coef": """
            ent_coef ent_coeff entropy_coef entropy_coeff entropy_coefficient entropy_weight entropy_beta
            entropy_bonus entropy_reg entropy_loss_coef entropy_cost ent_weight
        """,
        "normalise_advantage": """
            norm_adv normalize_advantage normalize_advantages normalise_advantage normalise_advantages adv_norm
            norm_advantage norm_advantages advantage_normalization standardize_advantages
        """,
    },
    ("vpg", "trpo", "ppo"): {
        "value_iters": "value_iters train_v_iters vf_iters train_vf_iters n_critic_updates critic_iters",
    },
    ("vpg", "trpo"): {
        "value_iters": "value_epochs value_steps vf_epochs optim_critic_iters critic_epochs critic_steps",
    },
    ("vpg",): {
        "rollout_total": "batch_size? batch?",
    },
    ("a2c",): {
        "entropy_coef": "beta?",
    },
    ("ppo",): {
        "clip": """
            clip clip_range clip_coef clip_ratio clip_param clip_eps clip_epsilon cliprange policy_clip eps_clip
            epsilon_clip ppo_clip ppo_clip_ratio clipping_epsilon
        """,
        "clip_value": "clip_value clip_range_vf clip_vloss vf_clip_param value_clip clip_value_loss",
        "epochs": """
            n_epochs num_epochs update_epochs ppo_epochs ppo_epoch k_epochs k_epoch opt_epochs noptepochs num_sgd_iter
            sgd_epochs repeat_per_collect train_pi_iters num_update_epochs n_update_epochs update_step_num_repetitions
            optim_epochs epochs?
        """,
        "minibatch": """
            minibatch minibatch_size mini_batch_size mini_batch sub_batch_size sgd_minibatch_size optim_batchsize
            batch_size? batch?
        """,
        "n_minibatches": "num_minibatches n_minibatches minibatches num_mini_batch num_mini_batches nminibatches",
        "max_kl": "target_kl",
    },
    ("trpo",): {
        "max_kl": "delta target_kl max_kl kl_limit kl_bound kl_target max_kl_step desired_kl kl_delta",
        "cg_iters": """
            cg_iters cg_steps cg_max_steps n_cg_iters cg_iterations cg_nsteps num_cg_steps conjugate_gradient_steps
            conjugate_gradient_iters cg_max_iters
        """,
        "damping": "damping cg_damping damping_coeff damping_coef hvp_damping fisher_damping",
        "backtrack_iters": """
            backtrack_iters backtracks max_backtracks backtrack_steps line_search_steps line_search_max_iter
            line_search_iters linesearch_steps max_backtrack_steps
        """,
        "backtrack_coeff": "backtrack_coeff backtrack_coef backtrack_ratio line_search_shrinking_factor",
        "fisher_every": "fisher_every sub_sampling_factor",
    },
    OFF_POLICY: {
        "batch": "batch batch_size minibatch minibatch_size replay_batch_size train_batch_size mini_batch_size",
        "buffer": """
            buffer buffer_size capacity replay_size memory_size replay_capacity buffer_capacity replay_buffer_size
            replay_memory_size memory_capacity replay_buffer_capacity buffer_limit max_buffer_size max_replay_size
            buffer_len replay_buffer_max_size
        """,
        "learning_starts": """
            learning_starts learning_start update_after warmup_steps min_replay_size replay_start_size start_timesteps
            start_learning min_buffer_size start_training init_random_frames num_steps_sampled_before_learning_starts
            learn_start initial_random_steps random_steps start_steps?
        """,
        "train_every": """
            train_every train_freq train_frequency update_every update_frequency learn_every training_interval
            update_freq? steps_per_update
        """,
        "gradient_steps": """
            gradient_steps n_gradient_steps updates_per_step update_per_step utd utd_ratio grad_steps num_updates?
        """,
        "n_step": "n_step n_steps nstep n_step_return n_step_returns multi_step estimation_step",
        "tau": """
            tau target_tau soft_tau polyak_tau soft_update_tau target_smoothing_coefficient soft_update_rate
            target_update_tau
        """,
        "polyak": "polyak target_update_polyak",
        "target_every": """
            target_every target_update_interval target_network_frequency target_update_freq target_update
            target_update_frequency target_network_update_freq target_interval target_update_period
            target_update_every update_target_every sync_target_every hard_update_freq hard_update_every
            target_sync_every update_target_freq sync_rate
        """,
    },
    ("dqn",): {
        "epsilon_start": """
            epsilon_start eps_start start_e exploration_initial_eps initial_epsilon epsilon_init eps_init max_epsilon
            epsilon_max eps_max start_epsilon init_epsilon eps_train
        """,
        "epsilon_end": """
            epsilon_end eps_end end_e exploration_final_eps final_epsilon min_epsilon epsilon_min eps_min eps_final
            epsilon_final end_epsilon eps_train_final
        """,
        "epsilon_fraction": "exploration_fraction epsilon_fraction eps_fraction",
        "epsilon_steps": """
            epsilon_steps epsilon_decay_steps eps_decay_steps annealing_steps exploration_steps epsilon_timesteps
            epsilon_anneal_steps annealing_frames epsilon_decay eps_decay
        """,
        "double": "double double_q double_dqn use_double is_double",
        "dueling": "dueling duelling dueling_dqn",
        "prioritised": "prioritised prioritized use_per prioritized_replay prioritised_replay",
        "priority_alpha": "priority_alpha per_alpha prioritized_replay_alpha prioritised_alpha priority_exponent",
        "priority_beta": "priority_beta per_beta prioritized_replay_beta prioritised_beta beta_start",
    },
    ("sac",): {
        "alpha_lr": "alpha_lr lr_alpha ent_coef_lr entropy_lr temperature_lr alpha_learning_rate",
        "alpha": "alpha alpha_init init_alpha initial_alpha temperature init_temperature ent_coef entropy_coef",
        "autotune": "autotune auto_alpha learn_alpha tune_alpha automatic_entropy_tuning auto_entropy_tuning",
        "target_entropy": "target_entropy",
        "policy_every": "policy_every policy_delay policy_frequency policy_freq actor_update_interval",
    },
}

FIELDS = {
    "steps": "rollout_steps",
    "updates": "gradient_steps",
    "tries": "backtrack_iters",
    "shrink": "backtrack_coeff",
    "alpha": "priority_alpha",
    "beta": "priority_beta",
}
"""What fields of ours mean whose names say too little in a file of somebody else's."""

AMBIGUOUS = {
    "alpha": "a step size, an entropy temperature or a priority exponent",
    "beta": "an entropy weight, a KL penalty or an importance exponent",
    "c1": "often the weight of the value loss, not always",
    "c2": "often the weight of the entropy, not always",
    "delta": "a KL limit or a Huber threshold",
    "epochs": "rounds of training, or passes over a batch",
    "eps": "exploration, clipping or an optimizer's epsilon",
    "epsilon": "exploration, clipping or an optimizer's epsilon",
    "horizon": "a rollout's or an episode's length",
    "batch_size": "a rollout's or a minibatch's size",
    "start_steps": "random steps or steps before learning",
    "step_size": "a learning rate or a KL limit",
    "steps": "of a rollout, of an episode or in all",
    "tau": "GAE's λ or the rate of a target network",
    "temperature": "of an entropy bonus or of a softmax",
}
"""What names could mean that are matched only where something else leaves one meaning."""


@functools.cache
def concepts(algorithm: str) -> Mapping[str, tuple[str, bool]]:
    """Name -> what it means for this algorithm, and whether surely so."""
    return {
        name.rstrip("?"): (concept, not name.endswith("?"))
        for algorithms, table in NAMES.items()
        if not algorithms or algorithm in algorithms
        for concept, names in table.items()
        for name in names.split()
    }


def concept_of_field(name: str, algorithm: str) -> str:
    """What a field of the reference means; a field that others have no names for means itself."""
    known = concepts(algorithm)
    return known[name][0] if name in known else FIELDS.get(name, f"={name}")


def plain_name(name: str) -> str:
    """learningRate, LEARNING_RATE, --learning-rate, train.learning_rate: all learning_rate."""
    leaf = name.rpartition(".")[2] or name
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "_", leaf)
    return re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_")
