"""What the services need from the outside, as Protocols."""
