package main

import (
	"os/exec"
	"syscall"
)

// endWithParent kills the command if chatd is killed, so that the next run of the same part does not overlap with it.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
