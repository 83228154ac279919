"""`quarterdeck agents`: the fleet, from the terminal."""
