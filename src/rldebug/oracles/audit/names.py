"""What the arguments and fields of buffers are called in the common codebases."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rldebug.oracles.names import forms, plain

MAKE = {
    "capacity": """capacity max_size maxsize buffer_size size buffer_capacity max_len maxlen memory_size mem_size
        replay_size buf_size limit max_memory memory_capacity max_capacity length storage_size
        replay_buffer_size replay_capacity n max_length mem_capacity n_transitions num_transitions buffer_length
        max_buffer_size max_mem_size total_size cap replay_memory_size max_mem max_transitions memory_max_size
        memory_length""",
    "steps": """n_steps num_steps steps rollout_length n_step rollout_steps horizon trajectory_length episode_length
        num_transitions_per_env t_horizon unroll_length num_timesteps batch_steps steps_per_epoch rollout_len
        step_num""",
    "obs": """obs_shape obs_dim state_dim state_shape observation_shape input_shape input_dims obs_size state_size
        observation_dim observation_size n_obs num_obs ob_dim num_inputs dim_state input_dim s_dim ob_shape
        n_states dim_obs obs_dims state_dims num_states feature_dim n_features frame_shape image_shape
        n_observations in_dim""",
    "action": """act_dim action_dim action_shape act_shape action_size act_size a_dim dim_action dim_act action_dims
        act_dims n_act""",
    "actions": "n_actions num_actions n_action num_action action_n action_count",
    "envs": """n_envs num_envs envs nenvs n_env num_env env_num num_processes n_workers num_workers nproc n_proc
        buffer_num n_rollout_threads num_actors n_agents_envs n_parallel parallel_envs""",
    "batch": "batch_size batch minibatch_size mini_batch_size batchsize bs mb_size",
    "minibatches": "num_mini_batch num_minibatches n_minibatches n_minibatch num_mini_batches nminibatches n_batches",
    "epochs": "n_epochs num_epochs epochs update_epochs k_epochs ppo_epochs noptepochs",
    "gamma": "gamma discount discount_factor g",
    "lam": "lam lambda_ gae_lambda lmbda lambd tau gae_lam lambda",
    "n_step": "n_step n_steps nstep nsteps multi_step num_step num_steps n_multi_step multistep steps n lookahead",
    "alpha": "alpha prob_alpha priority_alpha per_alpha prioritized_replay_alpha a omega priority_exponent",
    "beta": """beta beta_start beta0 prob_beta per_beta beta_init initial_beta importance_beta b beta_begin
        prioritized_replay_beta0""",
    "beta_end": "beta_end beta_final beta_max final_beta",
    "beta_step": "beta_increment beta_inc beta_increment_per_sampling beta_anneal beta_step beta_annealing",
    "eps": "eps epsilon priority_eps per_eps prior_eps e prioritized_replay_eps",
    "seed": "seed random_seed rng_seed random_state",
    "device": "device dev",
    "observation_space": "observation_space obs_space ob_space state_space single_observation_space",
    "action_space": "action_space act_space ac_space single_action_space",
    "hidden": "recurrent_hidden_state_size hidden_size hidden_state_size rnn_hidden_size recurrent_n",
    "storage": "storage",
    "frames": """k n_stack nstack num_stack window window_size stack_size n_frames num_frames frame_stack stack
        history_length n frames num_frame""",
    "env": "env environment gym_env",
    "height": "height img_height frame_height h img_h",
    "width": "width img_width frame_width w img_w",
}
"""Of a constructor. Read with `role(name, MAKE, order)`: a name stands for the first role of the order that has it."""

ADD = {
    "obs": """obs o state s observation ob cur_state frame prev_obs prev_state old_state s1 obs1 o1 current_state st
        current_obs x state1 last_obs last_state cur_obs s0 obs_batch""",
    "action": "action a act ac u action_batch act_batch",
    "reward": "reward r rew rwd reward_batch rew_batch",
    "next_obs": """next_obs o2 next_state ns s2 s_prime next_observation obs_next new_state new_obs sp obs2 next_o
        obs_tp1 next_ob next_frame state2 next_s n_state nxt_state s_next state_next new_observation observation_next
        s_p successor next_states nextstate nextobs obs_new state_new n_obs state_prime next_st obs_prime nobs
        n_s""",
    "done": """done d terminal is_done is_terminal done_flag finished over done_bool end episode_over game_over ended
        dn episode_done term_or_trunc is_finished""",
    "terminated": "terminated termination term is_terminated te done_no_max real_done true_done done_no_limit",
    "truncated": "truncated truncation timeout time_out trunc is_truncated tr timeouts",
    "not_done": "mask not_done nonterminal non_terminal masks notdone nd next_mask continues cont continue_mask",
    "bad_mask": "bad_mask bad_masks",
    "infos": "infos",
    "info": "info",
    "discount": "discount discounts",
    "priority": "priority error td_error p prio errors td priorities td_err",
    "value": "value val v value_pred value_preds vals state_value v_pred critic_value value_prediction baseline vf",
    "logp": """log_prob logp lp action_log_prob action_log_probs old_logp log_probs logprob logprobs prob log_pi logpi
        neglogp a_logp probs action_logprob action_logprobs old_log_prob log_p pi""",
    "episode_start": "episode_start is_first episode_starts first dones_before started starts start is_initial",
    "hidden": "recurrent_hidden_state recurrent_hidden_states hidden hidden_state hidden_states rnn_state rnn_hxs",
    "env_index": "env_id env_idx env_index env_ids buffer_ids",
}
"""Of an argument of add, and of a field that comes back."""

READ = ADD | {
    "advantage": "advantage adv gae advs adv_targ advantages",
    "return": "return ret returns value_target target rtg returns_to_go rets target_value value_targets",
    "index": "index idx indices idxs idxes inds batch_inds batch_idxes tree_idx tree_idxs ids batch_idx i ind",
    "weight": "weight is_weight weights is_weights w importance importance_weight sampling_weight iw priority_weight",
}

METHODS = {
    "add": """add push store append insert put remember record save add_transition store_transition add_experience
        memorize memorise observe cache save_transition append_transition store_experience add_sample add_step
        push_transition insert_transition write collect save_memory update_memory store_memory feed extend
        add_to_buffer add_batch put_data save_experience store_step step record_transition""",
    "sample": """sample sample_batch get_batch draw get_samples sample_transitions random_batch sample_minibatch
        sample_buffer random_sample sample_memory get_sample next_batch fetch recall sample_experience
        sample_tensors make_batch sample_mini_batch get replay read sample_from_buffer sample_data get_minibatch
        draw_batch retrieve""",
    "update": """update_priorities update_priority update_weight set_priorities batch_update update update_td_errors
        priority_update set_priority update_prios update_batch update_errors update_tree refresh_priorities""",
    "finish": """compute_returns_and_advantage compute_returns_and_advantages compute_returns finish_path compute_gae
        finish end_episode compute_advantages compute_advantage calculate_returns compute_advantages_and_returns
        compute_advantage_and_returns compute_returns_advantages end_trajectory finish_trajectory finalize
        after_rollout compute_targets calc_advantages calculate_advantages process compute_gae_and_returns""",
    "rollout": """get feed_forward_generator mini_batch_generator minibatches get_minibatches generate_batches iterate
        batches sample get_batches get_data rollout get_all get_rollout data generator minibatch_generator
        iter_minibatches make_batches get_generator loader get_batch get_training_data iter_batches
        sample_batches batch_generator recurrent_generator as_batch to_batch get_buffer get_trajectory fetch
        read iter_minibatch get_dataset pop flatten sample_batch all epoch""",
    "reset": "reset start begin restart",
    "frame": """append push add step observe update __call__ observation put insert append_frame push_frame add_frame
        process""",
    "stacked": """get state observation obs get_state get_stack stack get_obs stacked __array__ current get_observation
        as_array frames""",
}


@cache
def words(names: str) -> frozenset[str]:
    found: set[str] = set()
    for each in names.split():
        found |= {plain(each), plain(each).removesuffix("s") if len(each) > 3 else plain(each)}
    return frozenset(found)


def role(name: str, names: Mapping[str, str], order: tuple[str, ...] = ()) -> str | None:
    """What an argument or a field of this name is; the roles in `order` come before others that share a name."""
    ordered = [*order, *(each for each in names if each not in order)]
    if name.endswith("_") and "next_obs" in names:  # s_, state_, observation_: as in much teaching code
        base = role(name.rstrip("_"), names, order)
        if base == "obs":
            return "next_obs"
    for form in forms(name):
        for each in ordered:
            if each in names and form in words(names[each]):
                return each
    return None
