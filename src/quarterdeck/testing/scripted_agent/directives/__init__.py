"""What a prompt can tell the scripted agent to do, by concern; `table` has them all."""
