"""Movie: questions about an invented film industry."""
