"""An engine carries a conversation to real sites."""
