package levellearning

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A file of crops is for the machine that made it: records, each a line of the kind, the number of
// denoisers, the samples, and the errors.

// Write writes a crop as a record.
func (c *Crop) Write(w io.Writer) error {
	kind := make([]byte, 16)
	copy(kind, c.Kind)
	for _, part := range []any{kind, uint32(len(c.Errors)), c.Noisy, c.Errors} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

// ReadCrops reads records to the end. A last record that is cut off is left out.
func ReadCrops(r io.Reader) ([]*Crop, error) {
	var list []*Crop
	for {
		kind := make([]byte, 16)
		var denoisers uint32
		c := &Crop{Noisy: make([]uint16, 3*cropSide*cropSide)}
		err := func() error {
			if _, err := io.ReadFull(r, kind); err != nil {
				return err
			}
			if err := binary.Read(r, binary.LittleEndian, &denoisers); err != nil {
				return err
			}
			if denoisers > 16 {
				return fmt.Errorf("a crop with %d denoisers", denoisers)
			}
			c.Errors = make([][len(Nodes)][levelSquares]float32, denoisers)
			if err := binary.Read(r, binary.LittleEndian, c.Noisy); err != nil {
				return err
			}
			return binary.Read(r, binary.LittleEndian, c.Errors)
		}()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return list, nil
		case err != nil:
			return nil, err
		}
		for len(kind) > 0 && kind[len(kind)-1] == 0 {
			kind = kind[:len(kind)-1]
		}
		c.Kind = string(kind)
		list = append(list, c)
	}
}

// Size returns the bytes of a record.
func (c *Crop) Size() int64 {
	return int64(20 + 2*len(c.Noisy) + 4*len(c.Errors)*len(Nodes)*levelSquares)
}
