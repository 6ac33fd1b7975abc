package cpu

import "sync"

// idleArrays are large arrays that were given back, for those who ask for such next: new memory costs the
// time of its first touch, by one thread, and an iteration asks for the same again and again. With
// what is in use they never take more than was in use at some time before, and never more than is in
// use now, so that a device that is kept holds little.
type idleArrays struct {
	mu     sync.Mutex
	arrays [][]float32 // the oldest first
	bytes  int64
	most   int64 // that were in use
}

// leastIdle is the length from which arrays are kept: 4 MiB.
const leastIdle = 1 << 20

// take returns an array of n elements, which count as in use already, and whether it may hold
// anything: it is new otherwise, and full of zeros. All of its capacity is to be given back.
func (d *Device) take(n int) (data []float32, used bool, err error) {
	if n < leastIdle {
		data, err = allocate(n)
		return data, false, err
	}
	if data := d.idle.find(n, d.used.Load()); data != nil {
		return data[:n], true, nil
	}
	data, err = allocate(n)
	return data, false, err
}

// find takes the smallest array out that is long enough, and not by more than a sixteenth, or
// returns nil after it has made room.
func (l *idleArrays) find(n int, used int64) []float32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	best := -1
	for i, a := range l.arrays {
		if len(a) >= n && len(a) <= n+n/16 && (best < 0 || len(a) <= len(l.arrays[best])) {
			best = i
		}
	}
	if best < 0 {
		l.most = max(l.most, used)
		l.trim(used)
		return nil
	}
	a := l.arrays[best]
	l.arrays = append(l.arrays[:best], l.arrays[best+1:]...)
	l.bytes -= 4 * int64(len(a))
	return a
}

// keep takes an array back that no longer counts as in use.
func (d *Device) keep(data []float32) {
	data = data[:cap(data)]
	if len(data) < leastIdle {
		return
	}
	l := &d.idle
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arrays = append(l.arrays, data)
	l.bytes += 4 * int64(len(data))
	l.trim(d.used.Load())
}

// trim leaves the oldest arrays to the collector that are too much beside what is in use.
func (l *idleArrays) trim(used int64) {
	for len(l.arrays) > 0 && (l.bytes > used || l.bytes+used > l.most) {
		l.bytes -= 4 * int64(len(l.arrays[0]))
		l.arrays[0] = nil
		l.arrays = l.arrays[1:]
	}
}
