package htmlreport

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed slider.js
var sliderJS string

// compared is a view with the name of its picture, as the template "slider" takes it.
type compared struct {
	Name string
	View
}

// Slider returns the element in which the picture of that name is compared before and after, for
// a page other than a report. The function slider(element) of SliderScript brings it to life, and
// Style makes it look as in a report. A view without pictures leaves the page to set their sources,
// and data-width and data-height, before that.
func Slider(name string, v View) (template.HTML, error) {
	var b strings.Builder
	if err := layout.ExecuteTemplate(&b, "slider", compared{name, v}); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

// SliderScript returns the script of sliders: the functions slider and sliderKeys.
func SliderScript() string { return sliderJS }

// Style returns the style sheet of reports.
func Style() string { return pageCSS }
