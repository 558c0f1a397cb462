//go:build unix

package mcpselect_test

import (
	"syscall"
	"time"
)

// cpuTime is what the process has used of its processors: unlike time on the wall, it does not depend on who else runs.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
