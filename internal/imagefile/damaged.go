package imagefile

import "errors"

// damagedError is of a malformed file of which ReadOptions.Damaged may read a part.
type damagedError struct{ error }

func (e damagedError) Unwrap() error { return e.error }

// MaySalvage tells whether ReadOptions.Damaged may read a part of a file of which reading
// returned this error.
func MaySalvage(err error) bool {
	var d damagedError
	return errors.As(err, &d)
}

// salvage reads with ReadOptions.Damaged where the error of reading the whole file is one
// that this helps against, and else says that it would.
func salvage(m *Image, err error, opt ReadOptions, read func() (*Image, error)) (*Image, error) {
	switch {
	case !errors.Is(err, ErrMalformed):
		return m, err
	case opt.Damaged:
		if m, err = read(); err == nil {
			m.Damaged = true
		}
		return m, err
	}
	return nil, damagedError{err}
}
