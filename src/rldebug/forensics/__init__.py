"""From raw capture to meaning: who is the policy, the critic, the target network; which row belongs to which env step."""
