package weights

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// entry is what the header says of a tensor. The data are the bytes from begin
// up to, and without, end.
type entry struct {
	name       string
	dtype      DType
	shape      []int
	begin, end int
}

// parseHeader reads the JSON of a header. It checks that what is written is of
// the format; whether the numbers make sense is for tile.
//
// encoding/json takes the last of two equal keys, mends invalid UTF-8 and matches
// keys whatever their case, so that two readers may see two files in one. Hence
// this parser, for the few forms of JSON that a header has.
func parseHeader(b []byte) (metadata map[string]string, entries []entry, err error) {
	if len(b) == 0 || b[0] != '{' {
		return nil, nil, malformed("the header does not begin with {")
	}
	if !utf8.Valid(b) {
		return nil, nil, malformed("the header is not valid UTF-8")
	}
	p := &parser{text: b}
	err = p.object(func(name string) error {
		if name == metadataKey {
			return p.object(func(key string) error {
				value, err := p.string()
				if err != nil {
					return err
				}
				if metadata == nil {
					metadata = map[string]string{}
				}
				metadata[key] = value
				return nil
			})
		}
		e, err := p.entry(name)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for ; p.at < len(b); p.at++ {
		if b[p.at] != ' ' {
			return nil, nil, p.wrong("only spaces to follow the header's object")
		}
	}
	return metadata, entries, nil
}

// parser reads text from the byte at on.
type parser struct {
	text []byte
	at   int
}

// entry reads the object that describes a tensor.
func (p *parser) entry(name string) (entry, error) {
	e := entry{name: name}
	var seen struct{ dtype, shape, offsets bool }
	err := p.object(func(key string) error {
		switch key {
		case "dtype":
			seen.dtype = true
			text, err := p.string()
			if err != nil {
				return err
			}
			var ok bool
			if e.dtype, ok = parseDType(text); !ok {
				return malformed("tensor %.80q has the unknown dtype %.80q", name, text)
			}
			return nil
		case "shape":
			seen.shape = true
			var err error
			e.shape, err = p.numbers()
			return err
		case "data_offsets":
			seen.offsets = true
			offsets, err := p.numbers()
			if err != nil {
				return err
			}
			if len(offsets) != 2 {
				return malformed("tensor %.80q has %d data_offsets, want 2", name, len(offsets))
			}
			e.begin, e.end = offsets[0], offsets[1]
			return nil
		}
		return malformed("tensor %.80q has the unknown key %.80q, want only dtype, shape and data_offsets", name, key)
	})
	switch {
	case err != nil:
		return entry{}, err
	case !seen.dtype:
		return entry{}, malformed("tensor %.80q has no dtype", name)
	case !seen.shape:
		return entry{}, malformed("tensor %.80q has no shape", name)
	case !seen.offsets:
		return entry{}, malformed("tensor %.80q has no data_offsets", name)
	}
	return e, nil
}

// object reads an object whose keys differ. For each of them it calls member,
// which reads the value.
func (p *parser) object(member func(key string) error) error {
	if !p.take('{') {
		return p.wrong("an object")
	}
	if p.take('}') {
		return nil
	}
	keys := map[string]bool{}
	for {
		key, err := p.string()
		if err != nil {
			return err
		}
		if keys[key] {
			return malformed("the header has the key %.80q twice in one object", key)
		}
		keys[key] = true
		if !p.take(':') {
			return p.wrong("':' after a key")
		}
		if err := member(key); err != nil {
			return err
		}
		if p.take('}') {
			return nil
		}
		if !p.take(',') {
			return p.wrong("',' or '}' in an object")
		}
	}
}

// numbers reads an array of whole numbers that are not negative. It is not nil.
func (p *parser) numbers() ([]int, error) {
	if !p.take('[') {
		return nil, p.wrong("an array of whole numbers")
	}
	list := []int{}
	if p.take(']') {
		return list, nil
	}
	for {
		n, err := p.number()
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if p.take(']') {
			return slices.Clip(list), nil
		}
		if !p.take(',') {
			return nil, p.wrong("',' or ']' in an array of whole numbers")
		}
	}
}

// number reads a whole number that is not negative and fits an int.
func (p *parser) number() (int, error) {
	p.space()
	digits := 0
	n := 0
	for ; p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9'; p.at++ {
		d := int(p.text[p.at] - '0')
		if digits > 0 && n == 0 {
			return 0, p.wrong("a number without leading zeros")
		}
		if n > (math.MaxInt-d)/10 {
			return 0, p.wrong(fmt.Sprintf("a number below 2^%d", strconv.IntSize-1))
		}
		n = 10*n + d
		digits++
	}
	if digits == 0 {
		return 0, p.wrong("a whole number, not negative")
	}
	return n, nil
}

// string reads a string, with its escapes resolved.
func (p *parser) string() (string, error) {
	if !p.take('"') {
		return "", p.wrong("a string")
	}
	var s []byte
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return string(s), nil
		case c < ' ':
			return "", p.wrong("control characters in strings to be escaped")
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			s = utf8.AppendRune(s, r)
		default:
			s = append(s, c)
			p.at++
		}
	}
	return "", p.wrong("'\"' at the end of a string")
}

// escape reads an escape, one of \" \\ \/ \b \f \n \r \t \uXXXX, or the two \uXXXX
// of a surrogate pair.
func (p *parser) escape() (rune, error) {
	p.at++
	if p.at == len(p.text) {
		return 0, p.wrong("an escape after '\\'")
	}
	c := p.text[p.at]
	if c == 'u' {
		high, err := p.hex()
		if err != nil || !utf16.IsSurrogate(high) {
			return high, err
		}
		if p.at+1 < len(p.text) && p.text[p.at] == '\\' && p.text[p.at+1] == 'u' {
			p.at++
			low, err := p.hex()
			if err != nil {
				return 0, err
			}
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				return r, nil
			}
		}
		return 0, p.wrong("surrogates in pairs only")
	}
	const letters, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for i := range len(letters) {
		if letters[i] == c {
			p.at++
			return rune(meanings[i]), nil
		}
	}
	return 0, p.wrong("an escape of JSON after '\\'")
}

// hex reads the four digits after the u at the parser's place.
func (p *parser) hex() (rune, error) {
	p.at++
	var r rune
	for range 4 {
		if p.at == len(p.text) {
			return 0, p.wrong("four hexadecimal digits after \\u")
		}
		c := p.text[p.at]
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, p.wrong("four hexadecimal digits after \\u")
		}
		p.at++
	}
	return r, nil
}

// take skips white space, and then c if c is next.
func (p *parser) take(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// space skips the white space of JSON.
func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// wrong returns the error that something else stands at the parser's place.
func (p *parser) wrong(want string) error {
	if p.at >= len(p.text) {
		return malformed("the header ends after %d bytes, want %s", len(p.text), want)
	}
	r, _ := utf8.DecodeRune(p.text[p.at:])
	return malformed("byte %d of the header is %q, want %s", p.at, r, want)
}
