"""A real ACP agent without a model: it does what the directives in its prompt say."""
