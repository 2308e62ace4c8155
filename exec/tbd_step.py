"""Tells tbd exec of training steps that its hooks do not see: `import tbd_step`, then `tbd_step.step()` after each."""
import os
import stat

_fd = int(os.environ.get("TBD_STEP_FD", "-1"))
told = None  # what the hooks do after a step, where they are there


def step():
    if _fd >= 0 and stat.S_ISFIFO(os.fstat(_fd).st_mode):
        os.write(_fd, b"\0")
        if told:
            told()
