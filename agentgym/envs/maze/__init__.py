"""MAZE: walk to a goal, told only where you are and which of the four nearest cells are walls."""
