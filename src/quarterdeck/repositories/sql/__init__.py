"""SQLite and PostgreSQL behind the same statements."""
