package imagefile

import "github.com/averaged/imaging/internal/imagefile/picture"

// Image is a decoded image file: its colour as float32 planes, its alpha, and
// what else the file said.
type Image = picture.Image

// JPEGCoding is how the samples of a JPEG file were coded.
type JPEGCoding = picture.JPEGCoding
