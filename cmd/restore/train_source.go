package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/build"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/train"
	"github.com/averaged/imaging/weights"
)

// commandFile is the file of a run folder that holds sourceFlags.
const commandFile = "command.json"

// sourceFlags are what a run needs to know besides its configuration. They are kept in
// its folder, so that --resume need not be told.
type sourceFlags struct {
	Data        string `json:"data"`
	Validation  string `json:"validation,omitempty"`
	Name        string `json:"name"`
	Licence     string `json:"licence"`
	Description string `json:"data_description"`
}

// unknownLicence says in the terms of SPDX that no claim is made: the terms of the images
// may bind the weights too.
const unknownLicence = "NOASSERTION"

func (s *sourceFlags) bind(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.Validation, "val", "", "measure the PSNR on the images in this `FOLDER`")
	f.StringVar(&s.Name, "name", "", "`NAME` of the weights; default: that of the folder RUN")
	f.StringVar(&s.Licence, "licence", unknownLicence, "licence of the weights, an `SPDX` expression")
	f.StringVar(&s.Description, "data-description", "", "`TEXT` about the images for the weight file, such as origin and terms")
	must(c.MarkFlagDirname("val"))
}

// check finds texts that a weight file cannot hold, before anything is trained.
func (s *sourceFlags) check(c *cobra.Command) error {
	for flag, text := range map[string]string{"val": s.Validation, "name": s.Name, "licence": s.Licence, "data-description": s.Description} {
		if !c.Flags().Changed(flag) {
			continue
		}
		if text == "" {
			return usagef("--%s is empty; give a text, or leave it out", flag)
		}
		if flag != "val" && (message.OneLine(text) != text || strings.TrimSpace(text) != text) {
			return usagef("--%s %q: want one line of printable text without spaces around it", flag, text)
		}
	}
	return nil
}

// describe fills in the texts that were not given.
func (s *sourceFlags) describe(run string, data train.Data) {
	if s.Name == "" {
		s.Name = folderName(run)
	}
	if s.Description == "" {
		s.Description = fmt.Sprintf("%s of the folder %s", message.Count(data.Training.Len(), "image"), folderName(s.Data))
		if n := data.Validation.Len(); n > 0 {
			s.Description += fmt.Sprintf("; %s of %s held out", message.Count(n, "image"), folderName(s.Validation))
		}
	}
}

// folderName is the last part of a path, as a text that a weight file can hold.
func folderName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if text := strings.TrimSpace(message.OneLine(filepath.Base(path))); text != "" {
		return text
	}
	return "unnamed"
}

// write stores the flags in a run's folder.
func (s *sourceFlags) write(run string) error {
	kept := *s
	for _, p := range []*string{&kept.Data, &kept.Validation} {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return fileError{*p, err}
		}
		*p = abs
	}
	b, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(run, commandFile)
	if err := writeFile(path, append(b, '\n')); err != nil {
		return fileError{path, err}
	}
	return nil
}

// recall takes what was not given from the folder of the run.
func (s *sourceFlags) recall(c *cobra.Command, run string) error {
	path := filepath.Join(run, commandFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if s.Data == "" {
			return usagef("%s does not say which images it began with; name their folder: train FOLDER --resume -o %s", message.OneLine(path), message.OneLine(run))
		}
		return nil
	}
	if err != nil {
		return fileError{path, err}
	}
	var kept sourceFlags
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&kept); err != nil {
		return fileError{path, fmt.Errorf("is damaged: %w; remove it, and name the folders of the images again", err)}
	}
	if s.Data == "" {
		s.Data = kept.Data
	}
	for _, f := range []struct {
		flag string
		to   *string
		from string
	}{{"val", &s.Validation, kept.Validation}, {"name", &s.Name, kept.Name}, {"licence", &s.Licence, kept.Licence}, {"data-description", &s.Description, kept.Description}} {
		if !c.Flags().Changed(f.flag) && f.from != "" {
			*f.to = f.from
		}
	}
	return nil
}

// card is what the weight file is to say, except for what package train knows.
func (s *sourceFlags) card(config train.Config) (weights.Card, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return weights.Card{}, err
	}
	command := "restore train FOLDER -o RUN --config FILE"
	if config.Initial != "" {
		command += " --init WEIGHTS"
	}
	return weights.Card{
		Name: s.Name, Licence: s.Licence,
		Provenance: weights.Provenance{
			Software: "github.com/averaged/imaging/cmd/restore " + build.This().Version, Data: s.Description,
			Recipe: command + ", where FILE holds " + string(text),
		},
	}, nil
}

// trainingData reads the images of a run.
func (a *app) trainingData(ctx context.Context, t *training, config train.Config) (data train.Data, err error) {
	if data.Training, err = a.pictures(ctx, t, t.Data, config.Channels, config.SmallestPicture()); err != nil {
		return data, err
	}
	if t.Validation != "" {
		data.Validation, err = a.pictures(ctx, t, t.Validation, config.Channels, 1)
	}
	return data, err
}

// pictures reads the images of a folder, and says which files were left out.
func (a *app) pictures(ctx context.Context, t *training, folder string, channels, smallest int) (*train.Pictures, error) {
	decode := func(ctx context.Context, path string) (train.Picture, error) {
		if unfit, err := plan.Unfitness(path); err == nil && unfit != "" {
			return train.Picture{}, errors.New(unfit)
		}
		m, err := a.read(ctx, path, t.reading)
		if err != nil {
			return train.Picture{}, err
		}
		return train.Picture{Channels: m.Channels, Height: m.Height, Width: m.Width, Samples: m.Pix}, nil
	}
	set, leftOut, err := train.ReadPictures(ctx, folder, decode, channels, smallest)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, l := range leftOut {
		a.Note("left out: %s", describe(l.Path, l.Reason))
	}
	var unreadable *fs.PathError // the folder itself
	switch {
	case errors.As(err, &unreadable):
		return nil, fileError{folder, err}
	case err != nil && len(leftOut) > 0:
		return nil, fileError{folder, errors.New("has no image that can be used: every file in it was left out")}
	case err != nil:
		return nil, fileError{folder, errors.New("is empty; give a folder of images")}
	}
	return set, nil
}
