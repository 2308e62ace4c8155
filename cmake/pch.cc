// The precompiled header belongs to a target of its own (cmake/Rooms.cmake); it needs one source file.
