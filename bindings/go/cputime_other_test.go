//go:build !unix

package mcpselect_test

import "time"

func cpuTime() time.Duration { return 0 }
