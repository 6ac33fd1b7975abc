// Package vulkantest lets calls of Vulkan fail, for tests of what goes on then.
package vulkantest

import (
	"sync/atomic"

	"github.com/averaged/imaging/backend/vulkan/internal/driver"
)

// Code is what a function of Vulkan returns.
type Code int32

const (
	Timeout     Code = 2
	OutOfMemory Code = -2
	Lost        Code = -4
)

// Functions returns the names of the functions that can fail. A vkCmdDispatch that fails is left out,
// as on a device that computes garbage.
func Functions() []string { return driver.Fallible() }

// Fail lets a function fail from its call number after on, counted from 0. It returns how often the
// function was asked for, and what ends it.
func Fail(name string, after int64, code Code) (calls *atomic.Int64, end func()) {
	calls = new(atomic.Int64)
	driver.Fail(func(function string) (int32, bool) {
		if function != name {
			return 0, false
		}
		return int32(code), calls.Add(1) > after
	})
	return calls, func() { driver.Fail(nil) }
}
