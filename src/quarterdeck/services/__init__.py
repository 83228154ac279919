"""Business rules: one class a noun, one public method an operation."""
