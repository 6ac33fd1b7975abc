package metadata

import (
	"encoding/xml"
	"slices"

	"github.com/averaged/imaging/internal/tiffdir"
)

// Some metadata are true only of the pixels, or of the file, for which they were written. This file
// names all such fields that are known; Metadata.follow mends them, or removes what cannot be mended.

// Change is what has become of an image since its metadata were written.
type Change struct {
	Orientation int    // that was applied to the pixels, 1 to 8
	Upright     bool   // an orientation in the metadata has been applied, so it is 1 now
	From, To    [2]int // width and height before the orientation was applied, and now
}

// Turned tells whether pixels have changed places.
func (c Change) Turned() bool { return c.Orientation > 1 }

// Shown returns from, with its sides exchanged where rows have become columns.
func (c Change) Shown() [2]int {
	if c.Orientation >= 5 {
		return [2]int{c.From[1], c.From[0]}
	}
	return c.From
}

// factor is how many times the image was enlarged, or 0 if it was cut.
func (c Change) factor() int {
	shown := c.Shown()
	if shown[0] == 0 || shown[1] == 0 || c.To[0]%shown[0] != 0 || c.To[0]/shown[0]*shown[1] != c.To[1] {
		return 0
	}
	return c.To[0] / shown[0]
}

// Place returns where a pixel at (x, y) of the image as it was is shown now.
func (c Change) Place(x, y int) (int, int) {
	right, below := c.From[0]-1-x, c.From[1]-1-y
	switch c.Orientation {
	case 2:
		x = right
	case 3:
		x, y = right, below
	case 4:
		y = below
	case 5:
		x, y = y, x
	case 6:
		x, y = below, x
	case 7:
		x, y = below, right
	case 8:
		x, y = y, right
	}
	return x * c.factor(), y * c.factor()
}

// role is what a field depends on.
type role int

const (
	orientationRole role = iota + 1 // 1 once the orientation has been applied
	widthRole                       // the width in pixels
	heightRole                      // the height in pixels
	lengthRole                      // a length or a place in pixels: scaled, removed if turned or cut
	areaRole                        // x and y, perhaps a diameter or two sides, in pixels: mended, removed if cut
	densityRole                     // pixels for a unit of length, on the sensor: scaled, removed if cut
	pixelScaleRole                  // GeoTIFF: a pixel's sides on the map
	tiePointRole                    // GeoTIFF: places of pixels on the map
	matrixRole                      // GeoTIFF: the affine map from pixels to the map
	regionRole                      // marked regions, relative to the size: removed if turned or cut
	descriptionRole                 // a program's own description of the shape: removed if turned, enlarged or cut
	previewRole                     // a preview of the image as it was: removed
	partRole                        // about another part of the file: removed
)

// directoryKind is a directory of EXIF.
type directoryKind int

const (
	mainDirectory directoryKind = iota
	photoDirectory
	interoperabilityDirectory
)

// exifDependent are the fields of EXIF (CIPA DC-008) and GeoTIFF. The thumbnail's directory is removed as a whole, and
// XResolution and YResolution, which say how large the image is meant to be, are exchanged where rows become columns.
var exifDependent = []struct {
	directory directoryKind
	tag       uint16
	role      role
}{
	{mainDirectory, tiffdir.TagOrientation, orientationRole},
	{mainDirectory, tiffdir.TagImageWidth, widthRole},
	{mainDirectory, tiffdir.TagImageLength, heightRole},
	{mainDirectory, tiffdir.TagImageDescription, descriptionRole},
	{mainDirectory, 0x830e, pixelScaleRole},
	{mainDirectory, 0x8482, tiePointRole},
	{mainDirectory, 0x85d8, matrixRole},
	{photoDirectory, tiffdir.TagPixelXDimension, widthRole},
	{photoDirectory, tiffdir.TagPixelYDimension, heightRole},
	{photoDirectory, 0x9214, areaRole}, // SubjectArea
	{photoDirectory, 0xa214, areaRole}, // SubjectLocation
	{photoDirectory, tiffdir.TagFocalPlaneX, densityRole},
	{photoDirectory, tiffdir.TagFocalPlaneY, densityRole},
	{interoperabilityDirectory, 0x1001, widthRole},  // RelatedImageWidth
	{interoperabilityDirectory, 0x1002, heightRole}, // RelatedImageLength
}

// Names of other parts of a file, for messages.
const (
	PartGainMap  = "the HDR gain map"
	PartFilm     = "the motion photo's film"
	PartDepth    = "the depth map"
	PartOriginal = "the original picture, kept beside the edited one"
	PartSound    = "the sound"
	PartClaims   = "the Content Credentials (C2PA)"
)

const (
	nsMWGRegions = "http://www.metadataworkinggroup.com/schemas/regions/"
	nsContainer  = "http://ns.google.com/photos/1.0/container/"
	nsItem       = "http://ns.google.com/photos/1.0/container/item/"
	nsCamera     = "http://ns.google.com/photos/1.0/camera/"
)

// xmpProperty is a row of xmpDependent.
type xmpProperty struct {
	space  string
	names  []string // none: all of the namespace
	within xml.Name // the element around it, if that matters
	role   role
	part   string // what it is about, "" if other properties say
	inside bool   // the part is in XMP itself, or its extension
}

// xmpDependent are the properties of XMP: of Adobe (XMP Specification, parts 2 and 3), the Metadata Working Group,
// IPTC, Microsoft, Apple, and of Google's formats (Photo Sphere, Ultra HDR, Motion Photo, Dynamic Depth).
var xmpDependent = []xmpProperty{
	{space: "http://ns.adobe.com/tiff/1.0/", names: []string{"Orientation"}, role: orientationRole},
	{space: "http://ns.adobe.com/tiff/1.0/", names: []string{"ImageWidth"}, role: widthRole},
	{space: "http://ns.adobe.com/tiff/1.0/", names: []string{"ImageLength"}, role: heightRole},
	{space: "http://ns.adobe.com/exif/1.0/", names: []string{"PixelXDimension"}, role: widthRole},
	{space: "http://ns.adobe.com/exif/1.0/", names: []string{"PixelYDimension"}, role: heightRole},
	{space: "http://ns.adobe.com/exif/1.0/", names: []string{"SubjectArea", "SubjectLocation", "FocalPlaneXResolution", "FocalPlaneYResolution"}, role: lengthRole},
	{space: "http://ns.adobe.com/xap/1.0/", names: []string{"Thumbnails"}, role: previewRole},
	{space: "http://ns.adobe.com/xap/1.0/sType/Dimensions#", names: []string{"w"}, within: xml.Name{Space: nsMWGRegions, Local: "AppliedToDimensions"}, role: widthRole},
	{space: "http://ns.adobe.com/xap/1.0/sType/Dimensions#", names: []string{"h"}, within: xml.Name{Space: nsMWGRegions, Local: "AppliedToDimensions"}, role: heightRole},
	{space: nsMWGRegions, names: []string{"Regions"}, role: regionRole},
	{space: "http://ns.microsoft.com/photo/1.2/", names: []string{"RegionInfo"}, role: regionRole},
	{space: "http://iptc.org/std/Iptc4xmpExt/2008-02-29/", names: []string{"ImageRegion"}, role: regionRole},
	{space: "http://ns.apple.com/faceinfo/1.0/", names: []string{"Regions"}, role: regionRole},
	{space: "http://ns.google.com/photos/1.0/panorama/", names: []string{
		"FullPanoWidthPixels", "FullPanoHeightPixels", "CroppedAreaImageWidthPixels", "CroppedAreaImageHeightPixels",
		"CroppedAreaLeftPixels", "CroppedAreaTopPixels", "LargestValidInteriorRectLeft", "LargestValidInteriorRectTop",
		"LargestValidInteriorRectWidth", "LargestValidInteriorRectHeight"}, role: lengthRole},

	{space: nsContainer, role: partRole},
	{space: nsItem, role: partRole},
	{space: "http://ns.adobe.com/hdr-gain-map/1.0/", role: partRole, part: PartGainMap},
	{space: "http://ns.apple.com/HDRGainMap/1.0/", role: partRole, part: PartGainMap},
	{space: nsCamera, names: []string{"MicroVideo", "MotionPhoto"}, role: partRole, part: PartFilm},
	{space: nsCamera, names: []string{"MicroVideoVersion", "MicroVideoOffset", "MicroVideoPresentationTimestampUs", "MotionPhotoVersion", "MotionPhotoPresentationTimestampUs", "MotionPhotoPrimaryPresentationTimestampUs"}, role: partRole},
	{space: "http://ns.google.com/photos/1.0/depthmap/", role: partRole, part: PartDepth, inside: true},
	{space: "http://ns.google.com/photos/1.0/image/", role: partRole, part: PartOriginal, inside: true},
	{space: "http://ns.google.com/photos/1.0/audio/", role: partRole, part: PartSound, inside: true},
	{space: "http://ns.adobe.com/xmp/note/", names: []string{"HasExtendedXMP"}, role: partRole},
}

// partOfSemantic names the parts that a container's directory lists, by Item:Semantic.
var partOfSemantic = map[string]string{
	"GainMap": PartGainMap, "RecoveryMap": PartGainMap, "MotionPhoto": PartFilm, "Depth": PartDepth, "DepthMap": PartDepth,
	"Original": PartOriginal,
}

// pngDependentTexts are keywords under which programs write fields of EXIF as texts of PNG.
var pngDependentTexts = []string{
	"exif:Orientation", "exif:ImageWidth", "exif:ImageLength", "exif:PixelXDimension", "exif:PixelYDimension",
	"exif:ExifImageWidth", "exif:ExifImageLength", "exif:SubjectArea", "exif:SubjectLocation",
}

// pngDependentChunks are a page's size and the image's place on it.
var pngDependentChunks = []string{"oFFs", "vpAg", "caNv"}

// photoshopDependent tells whether a resource of Photoshop depends on what has changed: thumbnails always; guides, paths
// and the like, of which guides are in pixels.
func (c Change) photoshopDependent(resource uint16) bool {
	switch {
	case resource == 1033, resource == 1036: // thumbnails
		return true
	case resource == 1032: // grid and guides
		return c.Turned() || c.factor() != 1
	case resource >= 2000 && resource <= 2998: // paths
		return c.Turned() || c.factor() == 0
	}
	return false
}

// What is lost by a change, for messages.
const (
	lostRegions   = "the regions marked in it, such as faces"
	lostPlace     = "where its subject is"
	lostShape     = "a program's own description of its shape"
	lostReference = "its place on the map (GeoTIFF)"
)

// Followed is what following a change took away.
type Followed struct {
	Lost      Names
	Announced Names // other parts of the file that XMP spoke of
	Contained Names // parts that were in XMP
}

// Names are different ones.
type Names []string

// Add adds a name, if it is not there.
func (n *Names) Add(name string) {
	if !slices.Contains(*n, name) {
		*n = append(*n, name)
	}
}

// Follow makes the metadata true again after a change. EXIF is to be well-formed. An error is about XMP, which is then
// left as it is.
func (d *Metadata) Follow(c Change) (*Followed, error) {
	f := &Followed{}
	if d.EXIF != nil {
		if e, err := parseEXIF(d.EXIF); err == nil {
			e.follow(c, f)
			d.EXIF = e.data
		}
	}
	d.followChunks(c)
	d.followSegments(c)
	if d.XMP == nil {
		return f, nil
	}
	xmp, err := c.followXMP(d.XMP, f)
	if err != nil {
		return f, err
	}
	d.XMP = xmp
	return f, nil
}

// followChunks removes chunks that depend on the change.
func (d *Metadata) followChunks(c Change) {
	if !c.Turned() && c.factor() == 1 {
		return
	}
	var kept []Chunk
	for _, chunk := range d.Chunks {
		if !slices.Contains(pngDependentChunks, chunk.Name) && !(chunk.IsText() && slices.Contains(pngDependentTexts, chunk.Keyword())) {
			kept = append(kept, chunk)
		}
	}
	d.Chunks = kept
}

// followSegments removes resources of Photoshop that depend on the change.
func (d *Metadata) followSegments(c Change) {
	segments := slices.Clone(d.Segments)
	for i, s := range segments {
		if s.Marker == MarkerAPP13 {
			segments[i].Data = withoutResources(s.Data, c.photoshopDependent)
		}
	}
	d.Segments = segments
}
