package findings

import (
	"fmt"
	"html"
	"strings"
)

// palette is of colours that people who are colour-blind can tell apart (Okabe and Ito 2008). The
// style of a page has those that it draws with on its own ground, as the classes c0 to c6.
var palette = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444"}

// colour returns the colour of a series, and its class.
func colour(i int) (value, class string) {
	i %= len(palette)
	return palette[i], fmt.Sprintf("c%d", i)
}

// begin opens a drawing on white.
func begin(b *strings.Builder, width, height int, title string) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="system-ui, sans-serif" font-size="12" fill="#1c1d1f">`+"\n", width, height)
	fmt.Fprintf(b, "<title>%s</title>\n<path class=\"ground\" d=\"M0 0H%dV%dH0z\" fill=\"#fff\"/>\n", html.EscapeString(title), width, height)
}

// letter is the width of one in a name, in units of a drawing.
const letter = 7

// shortened cuts a name to so many letters.
func shortened(name string, most int) string {
	if letters := []rune(name); len(letters) > max(most, 2) {
		return string(letters[:max(most, 2)-1]) + "…"
	}
	return name
}
