package devicekit

import "sync/atomic"

// lifetime counts who needs something: its owner until Free, and each operation under way on it. The
// last one gives it back.
type lifetime struct {
	users   atomic.Int64
	freed   atomic.Bool
	release func()
}

func newLifetime(release func()) *lifetime {
	l := &lifetime{release: release}
	l.users.Store(1)
	return l
}

// use adds a user, unless the owner has freed it.
func (l *lifetime) use() bool {
	for !l.freed.Load() {
		if n := l.users.Load(); n > 0 && l.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// drop ends a use.
func (l *lifetime) drop() {
	if l.users.Add(-1) == 0 {
		l.release()
	}
}

// free ends the owner's use, once.
func (l *lifetime) free() {
	if !l.freed.Swap(true) {
		l.drop()
	}
}
