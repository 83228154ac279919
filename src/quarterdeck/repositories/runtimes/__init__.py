"""Where agents live: each runtime translates what its client hears into what the fleet knows."""
