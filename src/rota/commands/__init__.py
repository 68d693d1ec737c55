"""Commands of the program: a file is a command, and its first line is what ``rota --help`` says of it."""
