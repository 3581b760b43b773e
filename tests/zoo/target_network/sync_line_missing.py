"""The weights are never copied to the target network."""

BASE = "dqn"
REPLACE = [
    (
        "                target_net.load_state_dict(q_net.state_dict())\n    env.close()",
        "                pass\n    env.close()",
    )
]
EXPECT = "TGT001"
TRAIN = {"updates": 2050}
