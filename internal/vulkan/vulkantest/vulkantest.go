// Package vulkantest makes calls of Vulkan fail, for tests of the reactions to that, and skips tests where there is no GPU.
package vulkantest

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/averaged/imaging/internal/vulkan/driver"
)

// wanted is set where a Vulkan device must be there, be it software.
const wanted = "IMAGING_WANT_VULKAN"

// Need skips a test where devices could not be listed, or are software, which computes as GPUs do and takes long; but
// where a device must be there, that it is not is a failure.
func Need(t testing.TB, err error, software bool) {
	t.Helper()
	switch {
	case os.Getenv(wanted) != "":
		if err != nil {
			t.Fatal(err)
		}
	case err != nil:
		t.Skipf("no Vulkan here (bash .ci/vulkan tests it in software): %v", err)
	case software:
		t.Skip("Vulkan is software here: bash .ci/vulkan tests it")
	}
}

// Code is the return value of a function of Vulkan.
type Code int32

const (
	Timeout     Code = 2
	OutOfMemory Code = -2
	Lost        Code = -4
)

// Functions returns the names of the functions that can fail. A vkCmdDispatch that fails is left out,
// as on a device that computes garbage.
func Functions() []string { return driver.Fallible() }

// DestroyInstance destroys the instance of the process, of which no device may be open.
func DestroyInstance() { driver.DestroyInstance() }

// Left returns the objects that are made while run runs and not destroyed, except for the instance: how many of
// each kind.
func Left(run func()) map[string]int {
	var mu sync.Mutex
	left := map[string]int{}
	kind := strings.NewReplacer("vkCreateComputePipelines", "Pipeline", "vkAllocateMemory", "Memory", "vkFreeMemory", "Memory", "vkCreate", "", "vkDestroy", "")
	driver.Watch(func(function string, code int32) {
		change := 0
		switch {
		case code != 0:
		case strings.HasPrefix(function, "vkCreate"), function == "vkAllocateMemory":
			change = 1
		case strings.HasPrefix(function, "vkDestroy"), function == "vkFreeMemory":
			change = -1
		}
		mu.Lock()
		defer mu.Unlock()
		if change != 0 {
			left[kind.Replace(function)] += change
		}
	})
	defer driver.Watch(nil)
	run()
	delete(left, "Instance")
	for k, n := range left {
		if n == 0 {
			delete(left, k)
		}
	}
	return left
}

// Calls returns how often each function is called while run runs.
func Calls(run func()) map[string]int64 {
	var mu sync.Mutex
	calls := map[string]int64{}
	driver.Fail(func(function string) (int32, bool) {
		mu.Lock()
		defer mu.Unlock()
		calls[function]++
		return 0, false
	})
	defer driver.Fail(nil)
	run()
	return calls
}

// Failing runs run while a function fails from its call number after on, counted from 0.
func Failing(name string, after int64, code Code, run func()) {
	var calls atomic.Int64
	driver.Fail(func(function string) (int32, bool) {
		return int32(code), function == name && calls.Add(1) > after
	})
	defer driver.Fail(nil)
	run()
}

// FailingOnce runs run while a single call of a function, number at counted from 0, is left out.
func FailingOnce(name string, at int64, run func()) {
	var calls atomic.Int64
	driver.Fail(func(function string) (int32, bool) {
		return 0, function == name && calls.Add(1) == at+1
	})
	defer driver.Fail(nil)
	run()
}
