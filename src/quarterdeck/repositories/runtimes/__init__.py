"""Where agents live, and what can be asked of them there."""
