package cifar

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg" // formats of the pictures
	_ "image/png"
	"io"
	"path"
	"slices"
	"strings"
)

// Limits that keep an archive within reason.
const (
	largestPicture = 1 << 16 // bytes
	maxPictures    = 1 << 20
)

func readZip(name string) (training, test Set, err error) {
	z, err := zip.OpenReader(name)
	if err != nil {
		return training, test, fmt.Errorf("%q: %w", name, err)
	}
	defer z.Close()
	if training, test, err = parseZip(&z.Reader); err != nil {
		err = fmt.Errorf("%q: %w", name, err)
	}
	return training, test, err
}

// parseZip reads the pictures train/CLASS/NAME and test/CLASS/NAME of an archive, PNG or JPEG of
// 32×32 pixels, in the order of their names. Entries elsewhere are passed over.
func parseZip(z *zip.Reader) (training, test Set, err error) {
	files := slices.Clone(z.File)
	slices.SortStableFunc(files, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	if len(files) > maxPictures {
		return training, test, fmt.Errorf("%d entries, at most %d are read", len(files), maxPictures)
	}
	for _, f := range files {
		parts := strings.Split(f.Name, "/")
		if len(parts) != 3 || parts[2] == "" {
			continue
		}
		set := &training
		switch parts[0] {
		case "train":
		case "test":
			set = &test
		default:
			continue
		}
		label := slices.Index(Classes[:], parts[1])
		if label < 0 {
			return training, test, fmt.Errorf("entry %.80q: no such class", f.Name)
		}
		levels, err := readPicture(f)
		if err != nil {
			return training, test, fmt.Errorf("entry %.80q: %w", path.Clean(f.Name), err)
		}
		set.Labels = append(set.Labels, uint8(label))
		set.Levels = append(set.Levels, levels...)
	}
	return training, test, nil
}

func readPicture(f *zip.File) ([]uint8, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, largestPicture+1))
	if err != nil {
		return nil, err
	}
	if len(data) > largestPicture {
		return nil, fmt.Errorf("more than %d bytes", largestPicture)
	}
	header, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if header.Width != Side || header.Height != Side {
		return nil, fmt.Errorf("%d×%d pixels, must be %d×%d", header.Width, header.Height, Side, Side)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	levels := make([]uint8, Samples)
	b := img.Bounds()
	for y := range Side {
		for x := range Side {
			r, g, b, _ := img.At(b.Min.X+x, b.Min.Y+y).RGBA()
			for c, v := range [Channels]uint32{r, g, b} {
				levels[(c*Side+y)*Side+x] = uint8(v >> 8)
			}
		}
	}
	return levels, nil
}
