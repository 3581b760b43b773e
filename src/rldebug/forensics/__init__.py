"""From raw capture to meaning: who is who, which row belongs to which step, what targets are."""
