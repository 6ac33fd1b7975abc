package imagetest

// NetpbmFiles are two rows of three samples, or three rows of one, in the ways to write them.
var NetpbmFiles = map[string]string{
	"P5":                "P5 3 2 255\n\x00\x01\x02\x80\xfe\xff",
	"P5 with comments":  "P5# one\n#two\r3\t# three\n2\f255\n\x00\x01\x02\x80\xfe\xff",
	"P5 with CR LF":     "P5\r\n3 2\r\n255\r\n\x00\x01\x02\x80\xfe\xff",
	"P2":                "P2\n3 2\n255\n0 1 2\n128 # half\n254 255",
	"P6 of one column":  "P6\n1 2\n255\n\x00\x01\x02\x80\xfe\xff",
	"P3 of one column":  "P3\n1 2\n255\n  0 1 2 128 254 255\n",
	"P5 of 16 bits":     "P5 3 2 65535\n\x00\x00\x01\x01\x02\x02\x80\x80\xfe\xfe\xff\xff",
	"P2 of 16 bits":     "P2 3 2 65535 0 257 514 32896 65278 65535 ",
	"P6 of two in turn": "P6 1 2 255\n\x00\x01\x02\x80\xfe\xffP6 1 2 255\n\x00\x01\x02\x80\xfe\xff",
}
