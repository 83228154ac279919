"""The one daemon of a home: where it is, whether it is alive, how it is started and stopped."""
