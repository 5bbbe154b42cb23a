"""The environments. One folder each, all alike inside; none imports another.

Registration names entry points as strings, so `import agentgym` imports no environment.
"""

from agentgym.core.registry import EnvCard, register

BUILTIN = (
    EnvCard(
        "agentgym/TextCraft-v0",
        "agentgym.envs.textcraft.env:TextCraftEnv",
        "Craft a Minecraft item from a list of recipes.",
    ),
    EnvCard(
        "agentgym/Maze-v0",
        "agentgym.envs.maze.env:MazeEnv",
        "Walk to a goal in a maze, feeling only the nearest walls.",
    ),
    EnvCard(
        "agentgym/Wordle-v0",
        "agentgym.envs.wordle.env:WordleEnv",
        "Guess a hidden five-letter word in six attempts.",
    ),
    EnvCard(
        "agentgym/BabyAI-v0",
        "agentgym.envs.babyai.env:BabyAIEnv",
        "Follow an instruction in a grid world of rooms, doors and objects.",
        extra="babyai",
        modules=("minigrid",),
    ),
    EnvCard(
        "agentgym/SciWorld-v0",
        "agentgym.envs.sciworld.env:SciWorldEnv",
        "Carry out a grade-school science experiment in a simulated house.",
        extra="sciworld",
        modules=("scienceworld",),
    ),
    EnvCard(
        "agentgym/ALFWorld-v0",
        "agentgym.envs.alfworld.env:AlfworldEnv",
        "Do a household task in a room of a home: find, carry, clean, heat, cool, light.",
    ),
    EnvCard(
        "agentgym/Academia-v0",
        "agentgym.envs.academia.env:AcademiaEnv",
        "Answer a question about a citation network and its authors.",
    ),
    EnvCard(
        "agentgym/BIRD-v0",
        "agentgym.envs.bird.env:BirdEnv",
        "Answer a question about a database with one SQL query.",
    ),
    EnvCard(
        "agentgym/BIRD-Interactive-v0",
        "agentgym.envs.bird.interactive:BirdInteractiveEnv",
        "Run SQL queries, then answer a question with one.",
    ),
    EnvCard(
        "agentgym/Weather-v0",
        "agentgym.envs.weather.env:WeatherEnv",
        "Answer a question about temperature, rain, snow or air by calling functions.",
    ),
    EnvCard(
        "agentgym/WebShop-v0",
        "agentgym.envs.webshop.env:WebShopEnv",
        "Find the product that fits an instruction in a web shop, and buy it.",
        extra="webshop",
        modules=("tantivy",),
    ),
    EnvCard(
        "agentgym/Movie-v0",
        "agentgym.envs.movie.env:MovieEnv",
        "Answer a question about films and the people who make them.",
    ),
    EnvCard(
        "agentgym/TODOList-v0",
        "agentgym.envs.todolist.env:TodoListEnv",
        "Answer questions about a to-do list, and change it as asked.",
    ),
    EnvCard(
        "agentgym/Sheet-v0",
        "agentgym.envs.sheet.env:SheetEnv",
        "Change a spreadsheet until it is as asked, by calling functions.",
    ),
)

for _card in BUILTIN:
    register(_card)
