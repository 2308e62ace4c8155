/* Tells tbd exec of training steps: call tbd_step() after each. Does nothing in a program that tbd exec did not start. */
#pragma once
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void tbd_step(void) {
  const char *fd = getenv("TBD_STEP_FD");
  struct stat file;
  if (fd && fstat(atoi(fd), &file) == 0 && S_ISFIFO(file.st_mode) && write(atoi(fd), "", 1) < 0) return;
}
