"""How projects are built: Makefiles, CMake, compile_commands.json, or sources alone."""
