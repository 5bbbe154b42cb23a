"""TODOList: look things up and change things in somebody's projects and tasks."""
