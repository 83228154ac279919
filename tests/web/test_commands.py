"""What the daemon does for commands, and for whom."""



