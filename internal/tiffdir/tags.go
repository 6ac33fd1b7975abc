package tiffdir

// Tags of TIFF 6.0 that say how samples are stored, and of DNG.
const (
	TagBitsPerSample   = 258
	TagCompression     = 259
	TagPhotometric     = 262
	TagFillOrder       = 266
	TagStripOffsets    = 273
	TagSamplesPerPixel = 277
	TagRowsPerStrip    = 278
	TagStripByteCounts = 279
	TagPlanar          = 284
	TagPredictor       = 317
	TagTileWidth       = 322
	TagTileLength      = 323
	TagTileOffsets     = 324
	TagTileByteCounts  = 325
	TagSubIFDs         = 330
	TagSampleFormat    = 339
	TagDNGVersion      = 50706
)

// Tags that both TIFF and EXIF use, and tags of EXIF (CIPA DC-008).
const (
	TagImageWidth       = 0x0100
	TagImageLength      = 0x0101
	TagImageDescription = 0x010e
	TagMake             = 0x010f
	TagModel            = 0x0110
	TagOrientation      = 0x0112
	TagXResolution      = 0x011a
	TagYResolution      = 0x011b
	TagResolutionUnit   = 0x0128
	TagThumbnailOffset  = 0x0201
	TagThumbnailLength  = 0x0202
	TagIPTC             = 0x83bb
	TagEXIF             = 0x8769
	TagGPS              = 0x8825
	TagMakerNote        = 0x927c
	TagPixelXDimension  = 0xa002
	TagPixelYDimension  = 0xa003
	TagInteroperability = 0xa005
	TagFocalPlaneX      = 0xa20e
	TagFocalPlaneY      = 0xa20f
)
