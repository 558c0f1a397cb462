//go:build race

package mcpselect_test

const raceEnabled = true
