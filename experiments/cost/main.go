// Cost is the paper's appendix: the time of a forward and a backward pass (t_FB), of a power
// iteration (t_P) and of a forward pass (t_F), and the memory, of the networks of the other
// experiments, on this machine's processor.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/experiments/internal/classifier"
	"github.com/averaged/imaging/experiments/internal/command"
	"github.com/averaged/imaging/experiments/internal/denoisers"
	"github.com/averaged/imaging/internal/findings"
	"github.com/averaged/imaging/train"
	"github.com/averaged/imaging/tv"
)

func main() { command.Main(run) }

type options struct {
	*command.Flags
	batch, images, height, width int
	repetitions                  int
	channels, blocks             int
	widths                       command.Numbers
	classifierBlocks             int
	training                     int
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	o := &options{
		Flags:  command.NewFlags("cost", "any `folder`; nothing is read from it, since times depend on no picture"),
		widths: command.Numbers{16, 32, 64, 128},
	}
	o.IntVar(&o.batch, "batch", 128, "pictures of a batch of classification; the paper measures 512")
	o.IntVar(&o.training, "training-attack-iterations", 7, "iterations of an attack of adversarial training")
	o.IntVar(&o.images, "images", 5, "images of a batch of denoising")
	o.IntVar(&o.height, "height", 64, "their height; the paper has 321, which takes some 16 GB for RK4")
	o.IntVar(&o.width, "width", 64, "their width; the paper has 481")
	o.IntVar(&o.repetitions, "repetitions", 3, "how often each is measured; the median counts")
	o.IntVar(&o.channels, "channels", 64, "channels of the denoisers")
	o.IntVar(&o.blocks, "blocks", 10, "blocks of the denoisers")
	o.Var(&o.widths, "widths", "channels of the classifiers")
	o.IntVar(&o.classifierBlocks, "classifier-blocks", 5, "blocks of a stage")
	return o.Run(ctx, arguments, out, o.check, o.work)
}

func (o *options) check() error {
	for _, n := range []int{o.batch, o.images, o.height, o.width, o.repetitions, o.channels, o.blocks, o.training} {
		if n < 1 {
			return command.Usagef("sizes and numbers must be at least 1")
		}
	}
	return nil
}

// work measures on devices of its own, which count memory; dev is described.
func (o *options) work(ctx context.Context, dev backend.Device, out io.Writer) (*findings.Page, error) {
	classification, err := o.classification(ctx, out)
	if err != nil {
		return nil, err
	}
	denoising, err := o.denoising(ctx, out)
	if err != nil {
		return nil, err
	}
	d := dev.Description()
	p := &findings.Page{Title: "Cost of training and of inference", Sections: []findings.Section{classification, denoising}}
	machine := fmt.Sprintf("Measured on the processor (%s, %d threads): medians of %d. The paper's are those of an NVIDIA A100, in milliseconds; compare the relations of the rows. Memory is that of all arrays on the device, which keeps them from one pass to the next.", d.Model, d.Threads, o.repetitions)
	for i := range p.Sections {
		p.Sections[i].Paragraphs = append([]string{machine}, p.Sections[i].Paragraphs...)
	}
	return p, nil
}

// counting is a device that counts the bytes of its arrays.
type counting struct {
	backend.Device
	bytes int64
}

func (c *counting) Alloc(s backend.Shape) (backend.Buffer, error) {
	b, err := c.Device.Alloc(s)
	if err == nil {
		c.bytes += 4 * int64(s.Len())
	}
	return b, err
}

func open() (*counting, error) {
	dev, err := cpu.Open()
	if err != nil {
		return nil, err
	}
	return &counting{Device: dev}, nil
}

// cost of a network.
type cost struct {
	forwardBackward, power, forward time.Duration
	training, inference             int64 // bytes
	steps                           int
}

// median runs something once to warm up and then so many times.
func (o *options) median(ctx context.Context, f func() error) (time.Duration, error) {
	var times []time.Duration
	for i := range o.repetitions + 1 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		begun := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		if i > 0 {
			times = append(times, time.Since(begun))
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// row is one of the paper's tables.
type row struct {
	name  string
	paper [5]string // t_FB, t_P and memory in training, t_F and memory in inference
}

func milliseconds(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return strconv.FormatFloat(d.Seconds()*1e3, 'f', 0, 64)
}

func megabytes(n int64) string {
	if n == 0 {
		return "–"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 0, 64)
}

var header = []string{"method", "steps", "t_FB in ms", "t_P in ms", "memory in MB", "t_F in ms", "memory in MB", "paper: t_FB", "t_P", "memory", "t_F", "memory"}

func (r row) with(c cost) []string {
	steps := "–"
	if c.steps > 0 {
		steps = strconv.Itoa(c.steps)
	}
	return append([]string{r.name, steps, milliseconds(c.forwardBackward), milliseconds(c.power), megabytes(c.training), milliseconds(c.forward), megabytes(c.inference)}, r.paper[:]...)
}

// classification has the paper's first table.
func (o *options) classification(ctx context.Context, out io.Writer) (findings.Section, error) {
	table := findings.Table{Name: "classification", Caption: fmt.Sprintf("Batches of %d pictures of 32×32; the paper's of 512", o.batch), Header: header}
	for _, r := range []struct {
		row
		kind  classifier.Kind
		scale float32 // of the filters, which has them split their steps
		at    bool
	}{
		{row{"ResNet", [5]string{"20", "–", "1,758", "6", "896"}}, classifier.ResNet, 1, false},
		{row{"ResNet-AT", [5]string{"163", "–", "1,782", "6", "896"}}, classifier.ResNet, 1, true},
		{row{"NonExpNet, initial", [5]string{"20", "5", "1,758", "6", "896"}}, classifier.NonExpNet, 1, false},
		{row{"NonExpNet, four steps a block", [5]string{"83", "5", "4,782", "26", "931"}}, classifier.NonExpNet, 2.7, false},
	} {
		c, err := o.classifier(ctx, r.kind, r.scale, r.at)
		if err != nil {
			return findings.Section{}, fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Fprintf(out, "%s: t_FB %v, t_F %v\n", r.name, c.forwardBackward, c.forward)
		table.Rows = append(table.Rows, r.with(c))
	}
	return findings.Section{
		Title: "Classification (the paper's table 1)", Tables: []findings.Table{table},
		Paragraphs: []string{"t_P is what follows an update of the weights: the power iteration of each block, and filters prepared for the processor. The paper's last row has 63 steps."},
		Verdict:    relations(table, 0, 1, 2, 3),
	}, nil
}

func (o *options) classifier(ctx context.Context, kind classifier.Kind, scale float32, at bool) (c cost, err error) {
	dev, err := open()
	if err != nil {
		return c, err
	}
	defer dev.Close()
	form := classifier.Paper(kind)
	form.Blocks, form.Widths = o.classifierBlocks, nil
	for _, w := range o.widths {
		form.Widths = append(form.Widths, int(w))
	}
	n, err := classifier.New(dev, form)
	if err != nil {
		return c, err
	}
	defer n.Release()
	if err := n.Initialise(1); err != nil {
		return c, err
	}
	if scale != 1 {
		for _, p := range n.Parameters() {
			for i := range p.Values() {
				p.Values()[i] *= scale
			}
		}
		if err := n.Update(); err != nil {
			return c, err
		}
	}
	for _, s := range n.Steps() {
		c.steps += s
	}
	b := classifier.Batch{Images: make([]float32, o.batch*classifier.Samples), Labels: make([]uint8, o.batch)}
	for i := range b.Images {
		b.Images[i] = float32(i%97) / 97
	}
	for i := range o.batch {
		b.Numbers, b.Radii = append(b.Numbers, uint64(i)), append(b.Radii, 0.5)
	}
	begun := dev.bytes
	if c.forward, err = o.median(ctx, func() error {
		_, err := n.Scores(ctx, b.Images)
		return err
	}); err != nil {
		return c, err
	}
	c.inference = (dev.bytes - begun) / int64(o.repetitions+1)
	x, err := dev.Alloc(backend.Shape{N: o.batch, C: 3, H: 32, W: 32})
	if err != nil {
		return c, err
	}
	s, err := dev.Alloc(backend.Shape{N: o.batch, C: classifier.Outputs, H: 1, W: 1})
	if err != nil {
		return c, err
	}
	attack := classifier.PaperAttack(o.training, 1)
	begun = dev.bytes
	c.forwardBackward, err = o.median(ctx, func() error {
		images := b.Images
		if at {
			if images, _, err = attack.Run(ctx, n, b, false); err != nil {
				return err
			}
		}
		if err := dev.Upload(x, images); err != nil {
			return err
		}
		if err := n.Forward(ctx, s, x); err != nil {
			return err
		}
		return n.Backward(ctx, nil, s, true)
	})
	if err != nil {
		return c, err
	}
	c.training = dev.bytes - begun + c.inference
	if kind == classifier.NonExpNet {
		c.power, err = o.median(ctx, n.Update)
	}
	return c, err
}

// denoising has the paper's second table.
func (o *options) denoising(ctx context.Context, out io.Writer) (findings.Section, error) {
	table := findings.Table{Name: "denoising", Caption: fmt.Sprintf("Batches of %d images of %d×%d; the paper's of 321×481", o.images, o.height, o.width), Header: header}
	for _, r := range []struct {
		row
		name  string
		scale float32
	}{
		{row{"TV", [5]string{"–", "–", "–", "1,447", "1,086"}}, denoisers.TV, 1},
		{row{"DnCNN", [5]string{"143", "–", "8,563", "45", "1,519"}}, denoisers.DnCNN, 1},
		{row{"Euler, initial", [5]string{"102", "8", "8,086", "37", "2,293"}}, "euler", 1},
		{row{"Euler, two steps a block", [5]string{"236", "8", "15,612", "84", "2,485"}}, "euler", 1.9},
		{row{"Heun, initial", [5]string{"212", "8", "14,068", "77", "2,679"}}, "heun", 1},
		{row{"Heun, two steps a block", [5]string{"466", "8", "27,964", "168", "2,870"}}, "heun", 1.9},
		{row{"RK4, initial", [5]string{"443", "8", "26,034", "163", "3,065"}}, "rk4", 1},
		{row{"RK4, two steps a block", [5]string{"1,155", "8", "63,090", "423", "3,450"}}, "rk4", 1.9},
	} {
		var c cost
		var err error
		switch r.name {
		case denoisers.TV:
			c, err = o.totalVariation(ctx)
		case denoisers.DnCNN:
			c, err = o.dncnn(ctx)
		default:
			c, err = o.averaged(ctx, r.name, r.scale)
		}
		if err != nil {
			return findings.Section{}, fmt.Errorf("%s: %w", r.row.name, err)
		}
		fmt.Fprintf(out, "%s: t_FB %v, t_F %v\n", r.row.name, c.forwardBackward, c.forward)
		table.Rows = append(table.Rows, r.with(c))
	}
	return findings.Section{
		Title: "Denoising (the paper's table 2)", Tables: []findings.Table{table},
		Paragraphs: []string{
			"Euler, Heun and RK4 are the paper's 10 blocks of 64 channels with LeakyReLU, without its lift and its projection, which are next to nothing. Of DnCNN, t_FB is an iteration of training, with its update. The paper's last rows of a method have 23, 22 and 26 steps.",
		},
		Verdict: relations(table, 2, 4, 6),
	}, nil
}

// relations compares t_FB of rows with the first of them.
func relations(t findings.Table, rows ...int) string {
	var words []string
	number := func(word string) float64 {
		v, err := strconv.ParseFloat(string(slices.DeleteFunc([]rune(word), func(r rune) bool { return r == ',' })), 64)
		if err != nil || v == 0 {
			return 1 // nothing was measured: below a millisecond
		}
		return v
	}
	for _, i := range rows[1:] {
		words = append(words, fmt.Sprintf("%s %.1f (paper: %.1f)", t.Rows[i][0], number(t.Rows[i][2])/number(t.Rows[rows[0]][2]), number(t.Rows[i][7])/number(t.Rows[rows[0]][7])))
	}
	return "Of t_FB, over " + t.Rows[rows[0]][0] + ": " + strings.Join(words, "; ") + "."
}

func (o *options) shape(channels int) backend.Shape {
	return backend.Shape{N: o.images, C: channels, H: o.height, W: o.width}
}

// averaged is a stage of the denoiser's width.
func (o *options) averaged(ctx context.Context, integrator string, scale float32) (c cost, err error) {
	dev, err := open()
	if err != nil {
		return c, err
	}
	defer dev.Close()
	config := train.PaperConfig(integrator)
	config.Channels, config.Width, config.Blocks, config.ActivationMemory = o.channels, o.channels, o.blocks, 1<<62
	config.Schedule = train.Schedule{Name: train.Constant, Maximum: 1} // which nobody looks at
	s, err := train.NewStage(dev, integrator, config)
	if err != nil {
		return c, err
	}
	defer s.Release()
	if err := s.Initialise(1); err != nil {
		return c, err
	}
	for _, p := range s.Parameters() {
		for i := range p.Values() {
			p.Values()[i] *= scale
		}
	}
	if err := s.Update(); err != nil {
		return c, err
	}
	for _, b := range s.Blocks() {
		c.steps += b.Steps
	}
	x, err := dev.Alloc(o.shape(o.channels))
	if err != nil {
		return c, err
	}
	y, err := dev.Alloc(o.shape(o.channels))
	if err != nil {
		return c, err
	}
	if err := dev.Gaussian(x, 1, 0.5, 0.15); err != nil {
		return c, err
	}
	begun := dev.bytes
	c.forwardBackward, err = o.median(ctx, func() error {
		if err := s.Forward(ctx, y, x); err != nil {
			return err
		}
		return s.Backward(ctx, nil, y, true)
	})
	if err != nil {
		return c, err
	}
	c.training = dev.bytes - begun
	if c.power, err = o.median(ctx, s.Update); err != nil {
		return c, err
	}
	n, err := s.Denoiser(ctx)
	if err != nil {
		return c, err
	}
	defer n.Free()
	c.forward, c.inference, err = o.inference(ctx, dev, n, o.channels)
	return c, err
}

// inference measures a network.
func (o *options) inference(ctx context.Context, dev *counting, n *denoise.Network, channels int) (time.Duration, int64, error) {
	begun := dev.bytes
	x, err := dev.Alloc(o.shape(channels))
	if err != nil {
		return 0, 0, err
	}
	defer x.Free()
	y, err := dev.Alloc(o.shape(channels))
	if err != nil {
		return 0, 0, err
	}
	defer y.Free()
	t, err := o.median(ctx, func() error { return n.Apply(ctx, y, x) })
	return t, dev.bytes - begun, err
}

// dncnn measures a training of DnCNN by its own account, and the network that ships.
func (o *options) dncnn(ctx context.Context) (c cost, err error) {
	dev, err := open()
	if err != nil {
		return c, err
	}
	defer dev.Close()
	config := train.PaperConfig("euler").ForDnCNN()
	config.Width, config.Blocks = o.channels, max(1, 2*o.blocks-2)
	config.Batch, config.Crop = o.images, min(o.height, o.width)
	config.Iterations, config.ReportEvery = o.repetitions+1, 1
	config.Schedule = train.Schedule{Name: train.Constant, Maximum: 1e-4}
	picture := train.Picture{Channels: 3, Height: config.Crop, Width: config.Crop, Samples: make([]float32, 3*config.Crop*config.Crop)}
	set, err := train.NewPictures(3, []train.Picture{picture})
	if err != nil {
		return c, err
	}
	folder, err := os.MkdirTemp("", "cost")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(folder)
	begun := dev.bytes
	r, err := train.Create(dev, folder, config, train.Data{Training: set})
	if err != nil {
		return c, err
	}
	var times []time.Duration
	last := time.Now()
	err = r.Train(ctx, func(backend.Progress) error {
		times = append(times, time.Since(last))
		last = time.Now()
		return nil
	})
	c.training = dev.bytes - begun
	if e := r.Close(); err == nil {
		err = e
	}
	if err != nil {
		return c, err
	}
	times = times[1:]
	slices.Sort(times)
	// Crops are square: an image has more pixels.
	pixels := float64(o.height*o.width) / float64(config.Crop*config.Crop)
	c.forwardBackward = time.Duration(float64(times[len(times)/2]) * pixels)
	methods := denoisers.NewCollection(dev, "")
	defer methods.Free()
	n, err := methods.Network(ctx, denoisers.DnCNN)
	if err != nil {
		return c, err
	}
	c.forward, c.inference, err = o.inference(ctx, dev, n, 3)
	return c, err
}

func (o *options) totalVariation(ctx context.Context) (c cost, err error) {
	dev, err := open()
	if err != nil {
		return c, err
	}
	defer dev.Close()
	shape := backend.Image(3, o.height, o.width)
	alpha, coupling := tv.Tuned(denoisers.Sigma, 3)
	x, err := dev.Alloc(shape)
	if err != nil {
		return c, err
	}
	y, err := dev.Alloc(shape)
	if err != nil {
		return c, err
	}
	if err := dev.Gaussian(x, 1, 0.5, denoisers.Sigma); err != nil {
		return c, err
	}
	begun := dev.bytes
	p, err := tv.New(dev, shape, tv.Options{Alpha: alpha, Coupling: coupling})
	if err != nil {
		return c, err
	}
	defer p.Free()
	c.forward, err = o.median(ctx, func() error {
		for range o.images {
			if err := p.Apply(ctx, y, x); err != nil {
				return err
			}
		}
		return nil
	})
	c.inference = (dev.bytes - begun) / int64((o.repetitions+1)*o.images)
	return c, err
}
