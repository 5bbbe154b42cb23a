"""Academia: questions about an invented citation network and its authors."""
