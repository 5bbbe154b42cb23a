"""What agentgym claims about speed. Each script runs by itself and writes its result file."""
