package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// peakResident returns the largest resident memory of this process in MiB as Linux
// tells it, 0 on other systems. It is not ru_maxrss of getrusage, which a process
// inherits from the one that started it.
func peakResident() (float64, error) {
	if runtime.GOOS != "linux" {
		return 0, nil
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "\nVmHWM:")
	kib := 0.0
	if _, err := fmt.Sscanf(after, "%g kB", &kib); err != nil {
		return 0, fmt.Errorf("the peak of resident memory in /proc/self/status: %w", err)
	}
	return kib / 1024, nil
}
