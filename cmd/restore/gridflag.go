package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/averaged/imaging/deblur"
)

// gridFlag is how many rows and columns a sheet of kernels has; the zero value is no sheet.
type gridFlag struct{ rows, columns int }

func (g gridFlag) given() bool { return g.rows > 0 }

// String returns what Set takes.
func (g *gridFlag) String() string {
	if !g.given() {
		return ""
	}
	return fmt.Sprintf("%dx%d", g.rows, g.columns)
}

// Set reads ROWSxCOLUMNS.
func (g *gridFlag) Set(s string) error {
	rows, columns, _ := strings.Cut(s, "x")
	r, errRows := strconv.Atoi(rows)
	c, errColumns := strconv.Atoi(columns)
	if errRows != nil || errColumns != nil || r < 1 || c < 1 || r > deblur.MaxCells || c > deblur.MaxCells {
		return fmt.Errorf("want ROWSxCOLUMNS such as 3x4, at most %dx%d", deblur.MaxCells, deblur.MaxCells)
	}
	*g = gridFlag{r, c}
	return nil
}

// Type is what help calls the value.
func (g *gridFlag) Type() string { return "ROWSxCOLUMNS" }
