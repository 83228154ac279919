"""The words a model reads: the package's own, and what the user's `metadata.yaml` makes of them."""
