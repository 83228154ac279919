"""The agents that this process runs: their turns, logs, questions, limits and ends."""
