"""Where agents live: implementations of the runtime port."""
