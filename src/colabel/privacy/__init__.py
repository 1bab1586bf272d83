"""What was revealed to whom, and under which guarantee."""
