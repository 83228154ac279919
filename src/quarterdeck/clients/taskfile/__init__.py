"""The `task` command: which fields a Taskfile declares, and what each of them prints."""
