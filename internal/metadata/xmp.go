package metadata

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// XMP is RDF in XML. A property is an element, or, if it is simple, an attribute of the element that describes the
// image. All bytes stay that do not have to change.

// xmpDepth is how deep elements may lie in each other; real packets have some ten levels.
const xmpDepth = 100

var errXMP = errors.New("it is not well-formed")

// followXMP returns the packet with what depends on the change mended or removed.
func (c Change) followXMP(packet []byte, f *Followed) ([]byte, error) {
	body := bytes.TrimRight(packet, "\x00")
	e := &xmpEditor{Change: c, Followed: f, body: body}
	d := xml.NewDecoder(bytes.NewReader(body))
	for {
		start := d.InputOffset()
		token, err := d.RawToken()
		switch {
		case err == io.EOF && len(e.open) == 0:
			return e.result(), nil
		case err != nil:
			return nil, errXMP
		}
		switch t := token.(type) {
		case xml.StartElement:
			err = e.start(t, start, d.InputOffset())
		case xml.EndElement:
			err = e.end(t, start, d.InputOffset())
		case xml.CharData:
			e.text(t)
		}
		if err != nil {
			return nil, err
		}
	}
}

// xmpEditor copies a packet and changes it on the way.
type xmpEditor struct {
	Change
	*Followed
	body   []byte
	out    []byte
	copied int64 // bytes of body that are in out, or left out
	open   []xmpElement
}

type xmpElement struct {
	raw, name      xml.Name          // with its prefix, with its namespace
	spaces         map[string]string // by prefix, that it declares
	start, content int64             // offsets of the element and of what is in it
	removed        bool              // it or one around it
	property       *xmpProperty
	text           []byte
}

func (e *xmpEditor) result() []byte {
	if e.copied == 0 {
		return e.body
	}
	return append(e.out, e.body[e.copied:]...)
}

// replace puts text in place of bytes of the body. An error is about properties that lie in each other.
func (e *xmpEditor) replace(from, to int64, text string) error {
	if from < e.copied {
		return errXMP
	}
	e.out = append(append(e.out, e.body[e.copied:from]...), text...)
	e.copied = to
	return nil
}

// resolve returns a name with its namespace in place of its prefix.
func (e *xmpEditor) resolve(n xml.Name) xml.Name {
	for _, o := range slices.Backward(e.open) {
		if space, ok := o.spaces[n.Space]; ok {
			return xml.Name{Space: space, Local: n.Local}
		}
	}
	return n
}

// property returns the row of a name, or nil.
func (e *xmpEditor) property(n xml.Name) *xmpProperty {
	for i := range xmpDependent {
		p := &xmpDependent[i]
		if p.space == n.Space && (p.names == nil || slices.Contains(p.names, n.Local)) && (p.within.Local == "" || e.inside(p.within)) {
			return p
		}
	}
	return nil
}

func (e *xmpEditor) inside(n xml.Name) bool {
	return slices.ContainsFunc(e.open, func(o xmpElement) bool { return o.name == n })
}

func (e *xmpEditor) start(t xml.StartElement, start, end int64) error {
	if len(e.open) == xmpDepth {
		return fmt.Errorf("its elements are nested more than %d deep", xmpDepth)
	}
	o := xmpElement{raw: t.Name, start: start, content: end, removed: len(e.open) > 0 && e.open[len(e.open)-1].removed}
	for _, a := range t.Attr {
		switch {
		case a.Name.Space == "xmlns":
			if o.spaces == nil {
				o.spaces = map[string]string{}
			}
			o.spaces[a.Name.Local] = a.Value
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			if o.spaces == nil {
				o.spaces = map[string]string{}
			}
			o.spaces[""] = a.Value
		}
	}
	e.open = append(e.open, o)
	element := &e.open[len(e.open)-1]
	element.name = e.resolve(t.Name)
	element.property = e.property(element.name)
	if p := element.property; p != nil && e.removes(p) {
		element.removed = true
	}
	return e.attributes(t, element)
}

// attributes deals with the properties that are attributes of an element.
func (e *xmpEditor) attributes(t xml.StartElement, element *xmpElement) error {
	kept := t.Attr[:0:0]
	changed := false
	for _, a := range t.Attr {
		name := xml.Name{}
		if a.Name.Space != "" && a.Name.Space != "xmlns" {
			name = e.resolve(a.Name)
		}
		if p := e.property(name); p != nil {
			e.note(p, name, a.Value)
			value, keep := e.mended(p, a.Value)
			changed = changed || !keep || value != a.Value
			if !keep {
				continue
			}
			a.Value = value
		}
		kept = append(kept, a)
	}
	if !changed || element.removed {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("<" + prefixed(t.Name))
	for _, a := range kept {
		b.WriteString(" " + prefixed(a.Name) + `="`)
		xml.EscapeText(&b, []byte(a.Value)) // into memory: it does not fail
		b.WriteString(`"`)
	}
	if bytes.HasSuffix(e.body[:element.content], []byte("/>")) {
		b.WriteString("/")
	}
	b.WriteString(">")
	return e.replace(element.start, element.content, b.String())
}

func prefixed(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

func (e *xmpEditor) text(t xml.CharData) {
	if len(e.open) > 0 {
		if o := &e.open[len(e.open)-1]; o.property != nil {
			o.text = append(o.text, t...)
		}
	}
}

func (e *xmpEditor) end(t xml.EndElement, start, end int64) error {
	if len(e.open) == 0 || e.open[len(e.open)-1].raw != t.Name {
		return errXMP
	}
	o := e.open[len(e.open)-1]
	e.open = e.open[:len(e.open)-1]
	around := len(e.open) > 0 && e.open[len(e.open)-1].removed
	if o.property == nil {
		return nil
	}
	old := string(bytes.TrimSpace(o.text))
	e.note(o.property, o.name, old)
	switch {
	case around:
		return nil
	case o.removed:
		if o.property.role == regionRole {
			e.Lost.Add(lostRegions)
		}
		return e.replace(o.start, end, "")
	case start == o.content:
		return nil // it is empty
	}
	value, keep := e.mended(o.property, old)
	switch {
	case !keep:
		return e.replace(o.start, end, "")
	case value != old:
		return e.replace(o.content, start, value)
	}
	return nil
}

// removes tells whether a property has to go, whatever its value.
func (e *xmpEditor) removes(p *xmpProperty) bool {
	switch p.role {
	case partRole, previewRole:
		return true
	case lengthRole, regionRole:
		return e.Turned() || e.factor() == 0
	}
	return false
}

// mended returns what the value of a property is now, and whether there is one.
func (e *xmpEditor) mended(p *xmpProperty, value string) (string, bool) {
	if e.removes(p) {
		return "", false
	}
	switch p.role {
	case orientationRole:
		if e.Upright {
			return "1", true
		}
	case widthRole:
		return strconv.Itoa(e.To[0]), true
	case heightRole:
		return strconv.Itoa(e.To[1]), true
	case lengthRole:
		if e.factor() == 1 {
			return value, true
		}
		v, err := strconv.Atoi(value)
		if err != nil {
			return "", false // such as a list
		}
		return strconv.Itoa(v * e.factor()), true
	}
	return value, true
}

// note keeps what a property tells of other parts of the file.
func (e *xmpEditor) note(p *xmpProperty, name xml.Name, value string) {
	part := p.part
	if name.Space == nsItem && name.Local == "Semantic" && value != "Primary" {
		if part = partOfSemantic[value]; part == "" {
			part = fmt.Sprintf("its part %q", value)
		}
	}
	switch {
	case part == "" || value == "0" || strings.EqualFold(value, "false"):
	case p.inside:
		e.Contained.Add(part)
	default:
		e.Announced.Add(part)
	}
}
