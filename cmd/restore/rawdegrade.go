package main

import (
	"context"
	"fmt"
	"io"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/internal/atomicfile"
	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/degradation"
	"github.com/averaged/imaging/internal/dng"
	"github.com/averaged/imaging/internal/imagefile"
)

// simulateRaw writes the raw photograph that a camera takes of a picture.
func (a *app) simulateRaw(ctx context.Context, d *degradeFlags, m *imagefile.Image, c cameranoise.Camera, seed uint64, t plan.Task) (*record.Outcome, string, error) {
	seconds := stopwatch()
	photo, err := degradation.RawPhotograph(m, c, seed)
	if err != nil {
		return nil, "", fileError{t.Input, err}
	}
	if err = makeFolder(t.Output); err == nil {
		err = atomicfile.Write(ctx, t.Output, d.Force, func(w io.Writer) error { return dng.Create(w, photo) })
	}
	if err != nil {
		return nil, "", fileError{message.OutputName(t.Output), err}
	}
	o := &record.Outcome{Width: photo.Width, Height: photo.Height, Channels: 1, Seed: &seed, Camera: record.CameraOf(c), Seconds: seconds()}
	return o, fmt.Sprintf("raw photograph, %s, seed %d, %d×%d", o.Camera, seed, photo.Width, photo.Height), nil
}
