"""Weather: answer questions about temperature, rain, snow and air by calling functions."""
