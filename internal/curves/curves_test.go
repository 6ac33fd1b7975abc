package curves

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/train"
)

// metricsOf are made-up metrics of n reports of a network with that many blocks.
func metricsOf(n, blocks int) []train.Metrics {
	list := make([]train.Metrics, n)
	for i := range list {
		t := float64(i+1) / float64(n)
		m := train.Metrics{
			Iteration: 10 * (i + 1), Loss: 0.002 + 0.05*math.Exp(-20*t)*(1+0.3*math.Sin(float64(7*i))),
			LearningRate: 1e-3 * (1 - t), ImagesPerSecond: 30 + math.Sin(float64(i)),
		}
		m.PSNR = -10 * math.Log10(m.Loss)
		for b := range blocks {
			m.Blocks = append(m.Blocks, train.BlockMetrics{Norm: 1 + 0.1*float64(b)*t, Steps: 1 + int(2*t)*(b%2)})
		}
		if i%10 == 9 {
			m.Validation = []train.ValidationMetrics{{Sigma: 0.1, PSNR: 25 + 5*t}, {Sigma: 0.3, PSNR: 20 + 4*t}}
		}
		list[i] = m
	}
	return list
}

func decode(t testing.TB, b []byte, err error) image.Image {
	t.Helper()
	require.NoError(t, err)
	img, err := png.Decode(bytes.NewReader(b))
	require.NoError(t, err)
	return img
}

func TestTraining(t *testing.T) {
	for _, c := range []struct {
		n, blocks int
		size      image.Point
	}{
		{0, 0, image.Pt(1131, 741)}, {1, 0, image.Pt(1131, 741)}, {1, 1, image.Pt(1131, 1080)},
		{12, 3, image.Pt(1131, 1080)},
	} {
		b, err := Training("run", metricsOf(c.n, c.blocks))
		img := decode(t, b, err)
		require.Equal(t, c.size, img.Bounds().Size())
		// What is drawn: the loss from the first report on, in the colour of training, and
		// blocks from the first to the last in theirs.
		require.Equal(t, c.n > 0, has(img, trainingColour), "%d reports", c.n)
		require.Equal(t, c.n >= 10, has(img, validationColours[0]))
		if c.n > 1 && c.blocks > 1 {
			require.True(t, has(img, blockColour(0, c.blocks)))
			require.True(t, has(img, blockColour(c.blocks-1, c.blocks)))
		}
	}
}

// has tells whether a pixel of the picture has a colour.
func has(img image.Image, c color.Color) bool {
	want := color.RGBAModel.Convert(c).(color.RGBA)
	pix := img.(*image.RGBA).Pix // of an opaque PNG
	for i := 0; i < len(pix); i += 4 {
		if pix[i] == want.R && pix[i+1] == want.G && pix[i+2] == want.B {
			return true
		}
	}
	return false
}

// TestSameBytes: also from several goroutines at a time.
func TestSameBytes(t *testing.T) {
	m := metricsOf(20, 0)
	want, err := Training("run", m)
	require.NoError(t, err)
	results := make(chan []byte)
	for range 2 {
		go func() {
			b, err := Training("run", m)
			if err != nil {
				b = nil
			}
			results <- b
		}()
	}
	for range 2 {
		require.True(t, bytes.Equal(want, <-results))
	}
	m[19].Loss *= 1.5
	other, err := Training("run", m)
	require.NoError(t, err)
	require.False(t, bytes.Equal(want, other))
	other, err = Training("walk", metricsOf(20, 0))
	require.NoError(t, err)
	require.False(t, bytes.Equal(want, other), "the title is in it")
}

// TestTrainingTakesAnything: whatever the numbers, there is a picture.
func TestTrainingTakesAnything(t *testing.T) {
	strange := rapid.OneOf(
		rapid.SampledFrom([]float64{0, -1, 1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324, 1e-300, 1e29, 1e31}),
		rapid.Float64(),
	)
	whole := rapid.OneOf(rapid.IntRange(-5, 50), rapid.SampledFrom([]int{math.MaxInt, math.MinInt}))
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) train.Metrics {
			m := train.Metrics{
				Iteration: whole.Draw(t, "iteration"), Loss: strange.Draw(t, "loss"), PSNR: strange.Draw(t, "psnr"),
				LearningRate: strange.Draw(t, "rate"), ImagesPerSecond: strange.Draw(t, "speed"),
			}
			for range rapid.IntRange(0, 3).Draw(t, "blocks") {
				m.Blocks = append(m.Blocks, train.BlockMetrics{Norm: strange.Draw(t, "norm"), Steps: whole.Draw(t, "steps")})
			}
			for range rapid.IntRange(0, 2).Draw(t, "levels") {
				m.Validation = append(m.Validation, train.ValidationMetrics{Sigma: strange.Draw(t, "sigma"), PSNR: strange.Draw(t, "validation")})
			}
			return m
		}), 0, 6).Draw(t, "metrics")
		requireFinite(t, rapid.String().Draw(t, "title"), panelsOf(m), 2)
	})
}

// requireFinite draws panels without pixels, and requires that every line has a place.
func requireFinite(t require.TestingT, title string, panels []*panel, columns int) {
	var c recorder.Canvas
	w, h := size(len(panels), columns)
	require.NoError(t, paint(draw.NewCanvas(&c, w, h), title, panels, columns))
	require.NotEmpty(t, c.Actions)
	for _, a := range c.Actions {
		var path vg.Path
		switch a := a.(type) {
		case *recorder.Stroke:
			path = a.Path
		case *recorder.Fill:
			path = a.Path
		}
		for _, p := range path {
			require.False(t, math.IsNaN(float64(p.Pos.X)) || math.IsInf(float64(p.Pos.X), 0) || math.IsNaN(float64(p.Pos.Y)) || math.IsInf(float64(p.Pos.Y), 0))
		}
	}
}

func TestGapsStayGaps(t *testing.T) {
	m := metricsOf(40, 0)
	for i := range m {
		m[i].Loss, m[i].PSNR = math.NaN(), math.Inf(-1)
		m[i].LearningRate = math.NaN()
		m[i].ImagesPerSecond = math.NaN()
		m[i].Validation = nil
	}
	b, err := Training("run", m)
	require.False(t, has(decode(t, b, err), trainingColour), "nothing can be drawn of it")
	m[20].LearningRate = 0.1
	b, err = Training("run", m)
	require.True(t, has(decode(t, b, err), trainingColour), "a point between gaps is a dot")
}

func TestRangeTest(t *testing.T) {
	r := train.RangeReport{Minimum: 0.01, Maximum: 0.1}
	for i := range 100 {
		rate := 1e-4 * math.Pow(10, float64(i)/25)
		loss := 0.1/(1+100*rate) + 0.01*rate*rate
		r.Points = append(r.Points, train.RangePoint{LearningRate: rate, Loss: loss, Smoothed: loss})
	}
	b, err := RangeTest("range test", r)
	img := decode(t, b, err)
	require.Equal(t, image.Pt(581, 403), img.Bounds().Size())
	for _, c := range []color.Color{trainingColour, validationColours[0], validationColours[1]} {
		require.True(t, has(img, c))
	}
	again, err := RangeTest("range test", r)
	require.NoError(t, err)
	require.True(t, bytes.Equal(b, again))
	for _, empty := range []train.RangeReport{{}, {Points: []train.RangePoint{{LearningRate: math.NaN()}}}, {Points: r.Points[:1]}} {
		b, err := RangeTest("", empty)
		require.Equal(t, image.Pt(581, 403), decode(t, b, err).Bounds().Size())
	}
}

func TestReadMetrics(t *testing.T) {
	want := metricsOf(12, 2)
	var text bytes.Buffer
	for _, m := range want {
		require.NoError(t, json.NewEncoder(&text).Encode(m))
	}
	got, err := ReadMetrics(bytes.NewReader(text.Bytes()))
	require.NoError(t, err)
	require.Equal(t, want, got)
	text.WriteString(`{"iteration":130,"lo`) // a kill
	got, err = ReadMetrics(bytes.NewReader(text.Bytes()))
	require.NoError(t, err)
	require.Equal(t, want, got)
	text.WriteString("\n")
	_, err = ReadMetrics(&text)
	require.ErrorContains(t, err, "line 13 of the metrics: ")
	_, err = ReadMetrics(strings.NewReader(strings.Repeat(" ", longestLine+1) + "\n"))
	require.ErrorContains(t, err, "line 1 of the metrics: ")
	got, err = ReadMetrics(strings.NewReader(""))
	require.NoError(t, err)
	require.Empty(t, got)
}

// FuzzReadMetrics: any bytes are metrics or an error, and metrics can be drawn.
func FuzzReadMetrics(f *testing.F) {
	for _, text := range []string{
		"", "{}\n", "{\"iteration\":1,\"loss\":0.1,\"psnr\":10,\"blocks\":[{\"norm\":1,\"steps\":2}],\"validation\":[{\"sigma\":0.1,\"psnr\":20}]}\n",
		"{\"iteration\":-9223372036854775808,\"loss\":1e308}\n{\"iteration\":9223372036854775807,\"blocks\":[{},{}]}\n", "null\nnull\n", "[]\n", "{\"iteration\":1",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ReadMetrics(bytes.NewReader(b))
		if err != nil || len(m) > 100 {
			return
		}
		panels := panelsOf(m)
		requireFinite(t, "fuzz", panels, 2)
	})
}

func TestTicks(t *testing.T) {
	labels := func(list []tick) (text []string) {
		for _, t := range list {
			if t.label != "" {
				text = append(text, t.label)
			}
		}
		return text
	}
	for _, c := range []struct {
		of       ticker
		min, max float64
		want     string
	}{
		{linearTicks{most: 7, whole: true}, 0, 40000, "0 10k 20k 30k 40k"},
		{linearTicks{most: 7, whole: true}, 0, 2_400_000, "0 0.5M 1M 1.5M 2M"},
		{linearTicks{most: 7, whole: true}, 0, 6, "0 1 2 3 4 5 6"},
		{linearTicks{most: 7, whole: true}, 0, 1, "0 1"},
		{linearTicks{most: 7, whole: true}, 0, 5000, "0 1k 2k 3k 4k 5k"},
		{linearTicks{most: 6}, 26.04, 28.91, "26.5 27 27.5 28 28.5"},
		{linearTicks{most: 6}, -0.3, 0.3, "-0.3 -0.2 -0.1 0 0.1 0.2 0.3"},
		{linearTicks{most: 6}, 0, 1e-3, "0 2e-4 4e-4 6e-4 8e-4 0.001"},
		{linearTicks{most: 6}, 0.69, 0.741, "0.69 0.7 0.71 0.72 0.73 0.74"},
		{logTicks{most: 6}, 9e-4, 0.11, "0.001 0.01 0.1"},
		{logTicks{most: 6}, 9e-4, 0.02, "0.001 0.002 0.005 0.01 0.02"},
		{logTicks{most: 6}, 1.1e-3, 2.1e-3, "0.0012 0.0014 0.0016 0.0018 0.002"},
		{logTicks{most: 6}, 1e-6, 10, "1e-6 1e-4 0.01 1"},
		{logTicks{most: 6}, 9e-31, 2e30, "1e-20 1 1e20"},
	} {
		require.Equal(t, c.want, strings.Join(labels(c.of.ticks(span{c.min, c.max})), " "))
	}
}

func TestSmoothing(t *testing.T) {
	var constant, steep series
	for i := range 100 {
		constant = append(constant, point{float64(i), 3})
		steep = append(steep, point{float64(i), math.Exp(-float64(i))})
	}
	require.Equal(t, constant, constant.smoothed(20))
	constant[40].y = math.NaN()
	got := constant.smoothed(20)
	require.True(t, math.IsNaN(got[40].y))
	require.Equal(t, 3.0, got[41].y)
	for i, p := range steep.smoothed(50)[:5] {
		require.InEpsilon(t, steep[i].y, p.y, 1e-12, "the beginning is shown as it is")
	}
	noisy := make(series, 1000)
	for i := range noisy {
		noisy[i] = point{float64(i), float64(i%2*2 - 1)}
	}
	require.InDelta(t, 0, noisy.smoothed(50)[999].y, 0.03)
}

func TestThinned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, most := rapid.IntRange(0, 500).Draw(t, "n"), rapid.IntRange(1, 50).Draw(t, "most")
		s := make(series, n)
		for i := range s {
			s[i].x = float64(i)
		}
		got := s.thinned(most)
		require.LessOrEqual(t, len(got), most+1)
		if n > 0 {
			require.Equal(t, s[0], got[0])
			require.Equal(t, s[n-1], got[len(got)-1])
		}
	})
}

func TestTitles(t *testing.T) {
	require.Equal(t, "a?b", printable("a\nb"))
	long := printable(strings.Repeat("ü", 200))
	require.Len(t, []rune(long), longestTitle)
	require.True(t, strings.HasSuffix(long, "ü…"))
}

func BenchmarkTraining(b *testing.B) {
	m := metricsOf(4000, 10)
	for b.Loop() {
		if _, err := Training("run", m); err != nil {
			b.Fatal(err)
		}
	}
}
