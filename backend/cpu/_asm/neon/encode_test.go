package neon

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// everything writes all instructions that are written as words, with registers from
// both ends of their range, so that a bit in the wrong place shows.
func everything(f *Function) {
	registers := [][3]V{{0, 1, 2}, {31, 0, 0}, {0, 31, 0}, {0, 0, 31}, {21, 10, 5}, {10, 21, 26}}
	for _, r := range registers {
		d, n, m := r[0], r[1], r[2]
		for _, s := range []Shape{S4, D2} {
			f.FADD(s, d, n, m)
			f.FADDP(s, d, n, m)
			f.FSUB(s, d, n, m)
			f.FMUL(s, d, n, m)
			f.FDIV(s, d, n, m)
			f.FMLA(s, d, n, m)
			f.FMAX(s, d, n, m)
			f.FMAXNM(s, d, n, m)
			f.FCMGT(s, d, n, m)
			f.FCMGE(s, d, n, m)
			for element := range s.Lanes() {
				f.FMLAElement(s, d, n, m, element)
				f.FMLSElement(s, d, n, m, element)
				f.FMULElement(s, d, n, m, element)
			}
			f.FSQRT(s, d, n)
		}
		f.FCVTL(d, n)
		f.FCVTL2(d, n)
		f.FCVTN(d, n)
		f.XTN(d, n)
		base, index := R(n)%27, R(m)%27
		f.Load(16, d, Indexed(base, index))
		f.Store(16, d, Indexed(base, index))
	}
}

var (
	written      = regexp.MustCompile(`WORD \$0x([0-9a-f]{8}) // (.*)`)
	disassembled = regexp.MustCompile(`\t([0-9a-f]{8})\t.*// (.*)`)
)

// Go's disassembler reads every word as the instruction that stands beside it.
func TestWordsAreTheInstructionsBesideThem(t *testing.T) {
	var p Program
	f := p.Function("everything", "func(unused int)", "everything is never called.")
	everything(f)
	f.Return()

	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module words\n\ngo 1.26.0\n",
		"main.go":      "package main\n\nfunc everything(unused int)\n\nfunc main() { everything(0) }\n",
		"main_arm64.s": string(p.assembly()),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(arguments ...string) string {
		c := exec.Command("go", arguments...)
		c.Dir = folder
		c.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod")
		if arguments[0] == "tool" {
			c.Env = os.Environ()
		}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", arguments, err, out)
		}
		return string(out)
	}
	run("build", "-ldflags=", "-o", "words") // with the symbols that the disassembler needs
	got := map[string]string{}
	for _, m := range disassembled.FindAllStringSubmatch(run("tool", "objdump", "-gnu", "-s", "^main.everything", "words"), -1) {
		got[m[1]] = strings.TrimSpace(m[2])
	}
	want := written.FindAllStringSubmatch(string(p.assembly()), -1)
	if len(want) < 200 {
		t.Fatalf("only %d words were written", len(want))
	}
	for _, m := range want {
		if got[m[1]] != m[2] {
			t.Errorf("%s is %q, want %q", m[1], got[m[1]], m[2])
		}
	}
}

func TestParameters(t *testing.T) {
	var p Program
	f := p.Function("f", "func(a, b *float32, n int, x, y float32, z float32, m int)", "f has parameters of both sizes.")
	f.Parameter("b")
	f.Number("y")
	f.Number("z")
	f.Parameter("m")
	for _, want := range []string{"MOVD b+8(FP), R0", "FMOVS y+28(FP), F0", "FMOVS z+32(FP), F1", "MOVD m+40(FP), R1", "NOSPLIT, $0-48"} {
		if text := string(p.assembly()); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestRegisters(t *testing.T) {
	var p Program
	f := p.Function("f", "func(n int)", "f takes all registers.")
	refused := func(what string, do func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s was not refused", what)
			}
		}()
		do()
	}
	v := f.Vectors(32)
	refused("a vector register too many", func() { f.Vector() })
	f.Free(v[7])
	refused("freeing a register twice", func() { f.Free(v[7]) })
	if got := f.Vector(); got != v[7] {
		t.Errorf("got %v, want %v", got, v[7])
	}
	for range 26 {
		if r := f.General(); r == 18 || r >= 27 {
			t.Errorf("%v belongs to the system or to Go", r)
		}
	}
	refused("a general register too many", func() { f.General() })
	refused("a parameter of an unknown type", func() { p.Function("g", "func(x float64)", "") })
	refused("an unknown parameter", func() { f.Parameter("x") })
	refused("a fifth element", func() { f.FMULElement(S4, 0, 0, 0, 4) })
	if got := fmt.Sprint(At(R(3), -4), Indexed(3, 4), At(R(5), 0)); got != "-4(R3) (R3)(R4) (R5)" {
		t.Error(got)
	}
}
