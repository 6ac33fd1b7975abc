package terminal

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Bar shows how far work has come: on a terminal a line that is drawn anew, elsewhere a line for every tenth of the
// work. A nil one shows nothing.
type Bar struct {
	w        io.Writer
	label    string
	stage    string // what is done before the work itself; or empty
	terminal bool
	colour   bool
	columns  int
	began    time.Time
	drawn    time.Time
	width    int // of what stands on the line now
	tenth    int // the last tenth that a line was printed for, plus one
}

// redraw is the least time between two drawings.
const redraw = 100 * time.Millisecond

// NewBar returns a bar that is drawn on a stream, for work that a label names.
func NewBar(w io.Writer, label string) *Bar {
	return &Bar{w: w, label: label, terminal: Is(w), colour: Coloured(w), columns: columns(w), began: time.Now()}
}

// OnTerminal tells whether a person sees the bar being drawn.
func (p *Bar) OnTerminal() bool { return p != nil && p.terminal }

// Show draws a state. A fraction that is not a number counts as 0, a residual
// that is not positive is left out.
func (p *Bar) Show(fraction, residual float64) {
	if p == nil {
		return
	}
	if !(fraction > 0) {
		fraction = 0
	}
	fraction = min(fraction, 1)
	p.ShowText(fraction, p.state(fraction, residual, time.Now()))
}

// ShowText draws a state in words: on a terminal from time to time, elsewhere for every tenth.
func (p *Bar) ShowText(fraction float64, state string) {
	if p == nil {
		return
	}
	if !p.terminal {
		if tenth := int(fraction*10) + 1; tenth > p.tenth {
			p.tenth = tenth
			fmt.Fprintf(p.w, "restore: %s: %s\n", p.title(), state)
		}
		return
	}
	if now := time.Now(); now.Sub(p.drawn) >= redraw {
		p.drawn = now
		p.draw(fraction, state)
	}
}

// Begin begins a stage, with a clock of its own: how long an estimate takes does not tell how long what follows it will.
func (p *Bar) Begin(stage string) {
	if p == nil {
		return
	}
	p.Clear()
	p.stage, p.began, p.tenth, p.drawn = stage, time.Now(), 0, time.Time{}
	p.Show(0, 0)
}

// title says what the bar is of.
func (p *Bar) title() string {
	if p.stage == "" {
		return p.label
	}
	return p.label + ": " + p.stage
}

// state is the part of the line that is text.
func (p *Bar) state(fraction, residual float64, now time.Time) string {
	text := fmt.Sprintf("%3.0f%%", math.Floor(100*fraction))
	if left, known := timeLeft(now.Sub(p.began), fraction); known {
		text += "  " + Clock(left) + " left"
	}
	if residual > 0 && !math.IsInf(residual, 0) {
		text += fmt.Sprintf("  residual %.1e", residual)
	}
	return text
}

// timeLeft extrapolates from the time that the work so far took. The first two
// per cent are mostly preparation and tell nothing.
func timeLeft(elapsed time.Duration, fraction float64) (time.Duration, bool) {
	if fraction < 0.02 {
		return 0, false
	}
	left := float64(elapsed) * (1 - fraction) / fraction
	return time.Duration(min(left, float64(1000*time.Hour))), true
}

// Clock writes a duration as 0:05, 12:30 or 1:02:03.
func Clock(d time.Duration) string {
	s := int(math.Ceil(d.Seconds()))
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// draw puts "label [###---] state" over the old line, cut to the terminal. It
// overwrites with blanks instead of using a control sequence, which not every
// terminal knows.
func (p *Bar) draw(fraction float64, state string) {
	// The last column stays free: some terminals wrap when it is written.
	room := p.columns - 1
	const cells = 24
	label := shorten(p.title(), room-cells-len(state)-4)
	line, width := state, len(state)
	if label != "" {
		full := int(fraction * cells)
		bar := strings.Repeat("#", full)
		if p.colour {
			bar = "\x1b[32m" + bar + "\x1b[0m"
		}
		bar += strings.Repeat("-", cells-full)
		line = label + " [" + bar + "] " + state
		width = utf8.RuneCountInString(label) + cells + len(state) + 4
	} else if width > room {
		line, width = state[:max(room, 0)], max(room, 0)
	}
	fmt.Fprintf(p.w, "\r%s%s", line, strings.Repeat(" ", max(0, p.width-width)))
	p.width = width
}

// shorten cuts a name to n characters, keeping its end, or to nothing if it
// would be unrecognisable.
func shorten(s string, n int) string {
	r := []rune(s)
	switch {
	case len(r) <= n:
		return s
	case n < 8:
		return ""
	}
	return "…" + string(r[len(r)-n+1:])
}

// Clear takes the bar off the terminal.
func (p *Bar) Clear() {
	if p == nil || !p.terminal || p.width == 0 {
		return
	}
	fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
	p.width = 0
}
