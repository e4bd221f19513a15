//go:build !linux

package main

import "os/exec"

// endWithParent does nothing: only Linux can bind a command to its parent.
func endWithParent(*exec.Cmd) {}
