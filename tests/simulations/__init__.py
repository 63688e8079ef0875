"""Coverage of the intervals of a rating plan, in simulation on recorded verdicts."""
