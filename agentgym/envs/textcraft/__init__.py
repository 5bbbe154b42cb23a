"""TextCraft: craft a Minecraft item from a list of recipes."""
