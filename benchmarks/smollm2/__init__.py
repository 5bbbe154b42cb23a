"""A recorded run of AgentEvol on a real small model."""
