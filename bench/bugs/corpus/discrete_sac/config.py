CONFIG = {
    "seed": 0,
    "steps": 2500,
    "random_steps": 400,
    "train_every": 3,
    "batch_size": 64,
    "memory": 2000,
    "gamma": 0.95,
    "tau": 0.1,
    "channels": 8,
    "width": 64,
    "optimizer": "RMSprop",
    "lr": 2e-3,
    "alpha_lr": 5e-3,
    "alpha_start": 0.05,
    "entropy_share": 0.15,  # share of the largest possible entropy that the policy should keep
    "report_every": 500,
    "eval_episodes": 30,
}
