"""The user's own service manager, systemd or launchd: what it is given, and how it is asked."""
